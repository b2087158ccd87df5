# Closer looks: the case study, its labels, runtimes and examples, training sizes, solvers.
from frugalmct.studies.scope import studied

CASES = studied(SETTINGS, {SETTINGS["case_study"]["dataset"]: SETTINGS["case_study"]["budget"]})
SIZE_CASES = studied(SETTINGS, SETTINGS["training_size"])
# Study -> datasets and repetitions; the case study is one repetition, as in the paper.
STUDIES = {
    name: [(dataset, 0) for dataset in CASES]
    for name in ("case_study", "per_label", "runtime", "worked_examples", "solver_runtime")
}
STUDIES["training_size"] = [
    (dataset, repetition) for dataset in SIZE_CASES for repetition in REPETITIONS
]


wildcard_constraints:
    study="|".join(STUDIES),


rule study_solvers:
    input:
        market="results/markets/{dataset}.npz",
        combination="results/combinations/{dataset}/{repetition}.json",
        predictions="results/predictions/{dataset}/{repetition}.npz",
        code=package_code(
            "study_solvers",
            "frugalmct.select.exact",
            "frugalmct.select.relaxation",
            "frugalmct.select.ilp",
            "frugalmct.select.ilp_more",
        ),
    output:
        "results/studies/solver_runtime/{dataset}/{repetition}.csv",
    log:
        "results/logs/study_solvers/{dataset}/{repetition}.log",
    benchmark:
        "results/benchmarks/study_solvers/{dataset}/{repetition}.tsv"
    # The longest job, and on one core: it had better not be the last to begin.
    priority: 10
    conda:
        "../../envs/core.yaml"
    resources:
        mem_mb=2000,
    params:
        budget=lambda wildcards: CASES[wildcards.dataset],
        study=SETTINGS["solver_study"],
    message:
        "Solvers on {wildcards.dataset}"
    script:
        "../scripts/study_solvers.py"


rule study_case:
    input:
        market="results/markets/{dataset}.npz",
        split="results/splits/{dataset}/{repetition}.npz",
        combination="results/combinations/{dataset}/{repetition}.json",
        predictions="results/predictions/{dataset}/{repetition}.npz",
        code=package_code("study_case"),
    output:
        "results/studies/case_study/{dataset}/{repetition}.csv",
    log:
        "results/logs/study_case/{dataset}/{repetition}.log",
    benchmark:
        "results/benchmarks/study_case/{dataset}/{repetition}.tsv"
    conda:
        "../../envs/core.yaml"
    resources:
        mem_mb=2000,
    params:
        budget=lambda wildcards: CASES[wildcards.dataset],
        block=lambda wildcards: dataset_block(wildcards.dataset, "metric"),
        seed=SETTINGS["seed"],
    message:
        "Case study of {wildcards.dataset}"
    script:
        "../scripts/study_case.py"


rule study_labels:
    input:
        market="results/markets/{dataset}.npz",
        split="results/splits/{dataset}/{repetition}.npz",
        combination="results/combinations/{dataset}/{repetition}.json",
        predictions="results/predictions/{dataset}/{repetition}.npz",
        code=package_code("study_labels"),
    output:
        "results/studies/per_label/{dataset}/{repetition}.csv",
    log:
        "results/logs/study_labels/{dataset}/{repetition}.log",
    benchmark:
        "results/benchmarks/study_labels/{dataset}/{repetition}.tsv"
    conda:
        "../../envs/core.yaml"
    resources:
        mem_mb=2000,
    params:
        budget=lambda wildcards: CASES[wildcards.dataset],
        block=lambda wildcards: dataset_block(wildcards.dataset, "metric"),
    message:
        "Labels of {wildcards.dataset}, method by method"
    script:
        "../scripts/study_labels.py"


rule study_runtime:
    input:
        market="results/markets/{dataset}.npz",
        split="results/splits/{dataset}/{repetition}.npz",
        combination="results/combinations/{dataset}/{repetition}.json",
        predictions="results/predictions/{dataset}/{repetition}.npz",
        code=package_code("study_runtime", PREDICTOR_MODULE),
    output:
        "results/studies/runtime/{dataset}/{repetition}.csv",
    log:
        "results/logs/study_runtime/{dataset}/{repetition}.log",
    benchmark:
        "results/benchmarks/study_runtime/{dataset}/{repetition}.tsv"
    conda:
        "../../envs/core.yaml"
    resources:
        mem_mb=2000,
    params:
        budget=lambda wildcards: CASES[wildcards.dataset],
        block=lambda wildcards: dataset_block(
            wildcards.dataset, "features", "metric", "labels_per_item"
        ),
        learning=LEARNING,
    message:
        "Runtimes on {wildcards.dataset}"
    script:
        "../scripts/study_runtime.py"


rule show_examples:
    input:
        market="results/markets/{dataset}.npz",
        split="results/splits/{dataset}/{repetition}.npz",
        combination="results/combinations/{dataset}/{repetition}.json",
        predictions="results/predictions/{dataset}/{repetition}.npz",
        code=package_code("show_examples"),
    output:
        "results/studies/worked_examples/{dataset}/{repetition}.csv",
    log:
        "results/logs/show_examples/{dataset}/{repetition}.log",
    benchmark:
        "results/benchmarks/show_examples/{dataset}/{repetition}.tsv"
    conda:
        "../../envs/core.yaml"
    resources:
        mem_mb=2000,
    params:
        budget=lambda wildcards: CASES[wildcards.dataset],
        block=lambda wildcards: dataset_block(wildcards.dataset, "metric"),
    message:
        "Worked examples of {wildcards.dataset}"
    script:
        "../scripts/show_examples.py"


rule study_training_size:
    input:
        market="results/markets/{dataset}.npz",
        split="results/splits/{dataset}/{repetition}.npz",
        combination="results/combinations/{dataset}/{repetition}.json",
        predictions="results/predictions/{dataset}/{repetition}.npz",
        code=package_code("study_training_size", PREDICTOR_MODULE),
    output:
        "results/studies/training_size/{dataset}/{repetition}.csv",
    log:
        "results/logs/study_training_size/{dataset}/{repetition}.log",
    benchmark:
        "results/benchmarks/study_training_size/{dataset}/{repetition}.tsv"
    conda:
        "../../envs/core.yaml"
    resources:
        mem_mb=2000,
    params:
        budget=lambda wildcards: SIZE_CASES[wildcards.dataset],
        block=lambda wildcards: dataset_block(
            wildcards.dataset, "features", "metric", "labels_per_item"
        ),
        learning=LEARNING,
    message:
        "Training sizes of {wildcards.dataset}, repetition {wildcards.repetition}"
    script:
        "../scripts/study_training_size.py"


rule tabulate_study:
    input:
        parts=lambda wildcards: [
            f"results/studies/{wildcards.study}/{dataset}/{repetition}.csv"
            for dataset, repetition in STUDIES[wildcards.study]
        ],
        code=package_code("tabulate_study"),
    output:
        report(
            "results/tables/{study}.csv",
            caption="../report/study.rst",
            category="Studies",
        ),
    log:
        "results/logs/tabulate_study/{study}.log",
    benchmark:
        "results/benchmarks/tabulate_study/{study}.tsv"
    conda:
        "../../envs/core.yaml"
    resources:
        mem_mb=500,
    message:
        "Table {wildcards.study}"
    script:
        "../scripts/tabulate_study.py"
