# Training items to combiners, and combiners to estimates, of every base that may be chosen.


rule try_automl:
    input:
        from_here(PACKAGE / "predict" / "auto_sklearn_job.py"),
    output:
        AUTOML_LAUNCHER,
    log:
        "results/logs/try_automl.log",
    benchmark:
        "results/benchmarks/try_automl.tsv"
    conda:
        "../../envs/automl.yaml"
    params:
        python="python" if CONDA else AUTOML_PYTHON,
    message:
        "The Python of auto-sklearn, tried"
    shell:
        "{params.python:q} {input:q} introduce {output:q} > {log:q} 2>&1"
        " || {{ tail -n 1 {log:q} >&2; exit 1; }}"


rule combine_answers:
    input:
        market="results/answers/{dataset}.npz",
        split="results/splits/{dataset}/{repetition}.npz",
    output:
        "results/combinations/{dataset}/{repetition}.json",
    log:
        "results/logs/combine_answers/{dataset}/{repetition}.log",
    benchmark:
        "results/benchmarks/combine_answers/{dataset}/{repetition}.tsv"
    conda:
        "../../envs/core.yaml"
    params:
        code=package_code("combine_answers"),
        # Neither features nor predictor: another one does not search for the combiners again.
        block=lambda wildcards: dataset_block(
            wildcards.dataset, "base", "metric", "labels_per_item"
        ),
        silence=SETTINGS["silence"],
    message:
        "Combiners of {wildcards.dataset}, repetition {wildcards.repetition}"
    script:
        "../scripts/combine_answers.py"


rule estimate_accuracy:
    input:
        market="results/answers/{dataset}.npz",
        split="results/splits/{dataset}/{repetition}.npz",
        combination="results/combinations/{dataset}/{repetition}.json",
        automl=launcher_of(PREDICTOR),
    output:
        "results/estimates/{dataset}/{repetition}.npz",
    log:
        "results/logs/estimate_accuracy/{dataset}/{repetition}.log",
    benchmark:
        "results/benchmarks/estimate_accuracy/{dataset}/{repetition}.tsv"
    conda:
        "../../envs/core.yaml"
    threads: threads_of(PREDICTOR)
    params:
        code=package_code("estimate_accuracy", *PREDICTORS.modules(PREDICTOR)),
        block=lambda wildcards: dataset_block(wildcards.dataset, *LEARNING_KEYS),
        learning=LEARNING,
    message:
        "Estimates of {wildcards.dataset}, repetition {wildcards.repetition}"
    script:
        "../scripts/estimate_accuracy.py"
