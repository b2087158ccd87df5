# Combiners to estimated accuracies, of training items (out of sample) and test items.


rule predict_accuracy:
    input:
        market="results/markets/{dataset}.npz",
        split="results/splits/{dataset}/{repetition}.npz",
        combination="results/combinations/{dataset}/{repetition}.json",
        automl=LAUNCHER,
        code=package_code("predict_accuracy", PREDICTOR_MODULE),
    output:
        "results/predictions/{dataset}/{repetition}.npz",
    log:
        "results/logs/predict_accuracy/{dataset}/{repetition}.log",
    benchmark:
        "results/benchmarks/predict_accuracy/{dataset}/{repetition}.tsv"
    conda:
        "../../envs/core.yaml"
    threads: LEARNING_THREADS
    resources:
        mem_mb=growing(2000),
    params:
        block=lambda wildcards: dataset_block(wildcards.dataset, *LEARNING_KEYS),
        learning=LEARNING,
    message:
        "Estimates of {wildcards.dataset}, repetition {wildcards.repetition}"
    script:
        "../scripts/predict_accuracy.py"
