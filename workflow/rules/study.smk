# Closer looks: the case study, its labels, runtimes and examples, training sizes, solvers.
from frugalmct.studies.scope import studied, studied_budgets

CASES = studied(SETTINGS, {SETTINGS["case_study"]["dataset"]: SETTINGS["case_study"]["budget"]})
SIZE_CASES = studied(SETTINGS, SETTINGS["training_size"])
PREDICTOR_STUDY = SETTINGS["predictor_study"]
COMPARED = PREDICTOR_STUDY["predictors"]
COMPARED_ON = studied(SETTINGS, dict.fromkeys(PREDICTOR_STUDY["datasets"]))
LACKING = {predictor: sentence for predictor in COMPARED if (sentence := lacking(predictor))}
INSTALLED = [predictor for predictor in COMPARED if predictor not in LACKING]
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
        plans="results/plans/{dataset}/{repetition}.json",
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
    conda:
        "../../envs/core.yaml"
    resources:
        mem_mb=growing(2000),
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
        plans="results/plans/{dataset}/{repetition}.json",
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
        mem_mb=growing(2000),
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
        plans="results/plans/{dataset}/{repetition}.json",
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
        mem_mb=growing(2000),
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
        plans="results/plans/{dataset}/{repetition}.json",
        predictions="results/predictions/{dataset}/{repetition}.npz",
        automl=LAUNCHER,
        code=package_code("study_runtime", PREDICTOR_MODULE),
    output:
        "results/studies/runtime/{dataset}/{repetition}.csv",
    log:
        "results/logs/study_runtime/{dataset}/{repetition}.log",
    benchmark:
        "results/benchmarks/study_runtime/{dataset}/{repetition}.tsv"
    conda:
        "../../envs/core.yaml"
    threads: LEARNING_THREADS
    resources:
        mem_mb=growing(2000),
    params:
        budget=lambda wildcards: CASES[wildcards.dataset],
        block=lambda wildcards: dataset_block(wildcards.dataset, *LEARNING_KEYS),
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
        plans="results/plans/{dataset}/{repetition}.json",
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
        mem_mb=growing(2000),
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
        plans="results/plans/{dataset}/{repetition}.json",
        predictions="results/predictions/{dataset}/{repetition}.npz",
        automl=LAUNCHER,
        code=package_code("study_training_size", PREDICTOR_MODULE),
    output:
        "results/studies/training_size/{dataset}/{repetition}.csv",
    log:
        "results/logs/study_training_size/{dataset}/{repetition}.log",
    benchmark:
        "results/benchmarks/study_training_size/{dataset}/{repetition}.tsv"
    conda:
        "../../envs/core.yaml"
    threads: LEARNING_THREADS
    resources:
        mem_mb=growing(2000),
    params:
        budget=lambda wildcards: SIZE_CASES[wildcards.dataset],
        block=lambda wildcards: dataset_block(wildcards.dataset, *LEARNING_KEYS),
        learning=LEARNING,
    message:
        "Training sizes of {wildcards.dataset}, repetition {wildcards.repetition}"
    script:
        "../scripts/study_training_size.py"


rule study_predictors:
    input:
        market="results/markets/{dataset}.npz",
        split="results/splits/{dataset}/{repetition}.npz",
        combination="results/combinations/{dataset}/{repetition}.json",
        plans="results/plans/{dataset}/{repetition}.json",
        automl=launcher_of(*INSTALLED),
        code=package_code("study_predictors", *(f"frugalmct.predict.{name}" for name in INSTALLED)),
    output:
        "results/studies/predictors/{dataset}/{repetition}.csv",
    log:
        "results/logs/study_predictors/{dataset}/{repetition}.log",
    benchmark:
        "results/benchmarks/study_predictors/{dataset}/{repetition}.tsv"
    conda:
        "../../envs/core.yaml"
    threads: threads_of(*INSTALLED)
    resources:
        mem_mb=growing(2000),
    params:
        block=lambda wildcards: dataset_block(wildcards.dataset, *LEARNING_KEYS),
        budgets=lambda wildcards: studied_budgets(
            SETTINGS["datasets"][wildcards.dataset]["budgets"]
        ),
        learnings=[learning_with(predictor) for predictor in COMPARED],
        lacking=LACKING,
    message:
        "Predictors on {wildcards.dataset}, repetition {wildcards.repetition}"
    script:
        "../scripts/study_predictors.py"


rule tabulate_predictors:
    input:
        parts=expand(
            "results/studies/predictors/{dataset}/{repetition}.csv",
            dataset=COMPARED_ON,
            repetition=REPETITIONS[: PREDICTOR_STUDY["repeats"]],
        ),
        code=package_code("tabulate_predictors"),
    output:
        report(
            "results/tables/predictors.csv",
            caption="../report/predictors.rst",
            category="Past the paper",
        ),
    log:
        "results/logs/tabulate_predictors.log",
    benchmark:
        "results/benchmarks/tabulate_predictors.tsv"
    conda:
        "../../envs/core.yaml"
    resources:
        mem_mb=growing(500),
    message:
        "Comparison of predictors"
    script:
        "../scripts/tabulate_predictors.py"


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
        mem_mb=growing(500),
    message:
        "Table {wildcards.study}"
    script:
        "../scripts/tabulate_study.py"
