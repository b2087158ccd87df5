# Training items to combiners, with base service and buffer where these are to be found.


rule combine_answers:
    input:
        market="results/markets/{dataset}.npz",
        split="results/splits/{dataset}/{repetition}.npz",
        automl=LAUNCHER,
        code=package_code("combine_answers", PREDICTOR_MODULE),
    output:
        "results/combinations/{dataset}/{repetition}.json",
    log:
        "results/logs/combine_answers/{dataset}/{repetition}.log",
    benchmark:
        "results/benchmarks/combine_answers/{dataset}/{repetition}.tsv"
    conda:
        "../../envs/core.yaml"
    threads: LEARNING_THREADS
    resources:
        mem_mb=2000,
    params:
        block=lambda wildcards: dataset_block(wildcards.dataset, *LEARNING_KEYS),
        learning=LEARNING,
        delta=SETTINGS["delta"],
    message:
        "Combiners of {wildcards.dataset}, repetition {wildcards.repetition}"
    script:
        "../scripts/combine_answers.py"
