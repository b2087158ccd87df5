# Choices and baselines to the long table, and the tables derived from it.
EACH = {"dataset": DATASETS, "repetition": REPETITIONS}
# In the order in which `expand` goes through them.
CELLS = [(dataset, repetition) for dataset in DATASETS for repetition in REPETITIONS]
TASKS = {name: SETTINGS["datasets"][name]["task"] for name in DATASETS}


rule evaluate_baselines:
    input:
        market="results/markets/{dataset}.npz",
        split="results/splits/{dataset}/{repetition}.npz",
        combination="results/combinations/{dataset}/{repetition}.json",
        plans="results/plans/{dataset}/{repetition}.json",
        code=package_code("evaluate_baselines", "frugalmct.select.exact"),
    output:
        "results/baselines/{dataset}/{repetition}.csv",
    log:
        "results/logs/evaluate_baselines/{dataset}/{repetition}.log",
    benchmark:
        "results/benchmarks/evaluate_baselines/{dataset}/{repetition}.tsv"
    conda:
        "../../envs/core.yaml"
    resources:
        mem_mb=growing(2000),
    params:
        metric=lambda wildcards: SETTINGS["datasets"][wildcards.dataset]["metric"],
        seed=SETTINGS["seed"],
    message:
        "Baselines of {wildcards.dataset}, repetition {wildcards.repetition}"
    script:
        "../scripts/evaluate_baselines.py"


rule announce_dataset:
    input:
        parts=[
            *expand("results/selections/{{dataset}}/{repetition}.csv", repetition=REPETITIONS),
            *expand("results/baselines/{{dataset}}/{repetition}.csv", repetition=REPETITIONS),
        ],
        code=package_code("announce_dataset"),
    output:
        "results/headlines/{dataset}.txt",
    log:
        "results/logs/announce_dataset/{dataset}.log",
    benchmark:
        "results/benchmarks/announce_dataset/{dataset}.tsv"
    # News is told at once, and on a cluster where the run was started.
    priority: 20
    localrule: True
    conda:
        "../../envs/core.yaml"
    resources:
        mem_mb=growing(500),
    params:
        task=lambda wildcards: TASKS[wildcards.dataset],
    message:
        "Headline of {wildcards.dataset}"
    script:
        "../scripts/announce_dataset.py"


rule collect_tradeoff:
    input:
        parts=[
            *expand("results/selections/{dataset}/{repetition}.csv", **EACH),
            *expand("results/baselines/{dataset}/{repetition}.csv", **EACH),
        ],
        code=package_code("collect_tradeoff"),
    output:
        report(
            "results/tables/tradeoff.csv",
            caption="../report/tradeoff.rst",
            category="Results",
        ),
    log:
        "results/logs/collect_tradeoff.log",
    benchmark:
        "results/benchmarks/collect_tradeoff.tsv"
    conda:
        "../../envs/core.yaml"
    resources:
        mem_mb=growing(500),
    message:
        "The long table of accuracies and costs"
    script:
        "../scripts/collect_tradeoff.py"


rule tabulate_savings:
    input:
        tradeoff="results/tables/tradeoff.csv",
        code=package_code("tabulate_savings"),
    output:
        report(
            "results/tables/cost_savings.csv",
            caption="../report/cost_savings.rst",
            category="Results",
        ),
    log:
        "results/logs/tabulate_savings.log",
    benchmark:
        "results/benchmarks/tabulate_savings.tsv"
    conda:
        "../../envs/core.yaml"
    resources:
        mem_mb=growing(500),
    params:
        tasks=TASKS,
    message:
        "Cost savings at the best service's accuracy"
    script:
        "../scripts/tabulate_savings.py"


rule tabulate_ensembles:
    input:
        tradeoff="results/tables/tradeoff.csv",
        code=package_code("tabulate_ensembles"),
    output:
        report(
            "results/tables/ensembles.csv",
            caption="../report/ensembles.rst",
            category="Results",
        ),
    log:
        "results/logs/tabulate_ensembles.log",
    benchmark:
        "results/benchmarks/tabulate_ensembles.tsv"
    conda:
        "../../envs/core.yaml"
    resources:
        mem_mb=growing(500),
    params:
        datasets=DATASETS,
    message:
        "Comparison with ensembles"
    script:
        "../scripts/tabulate_ensembles.py"


rule tabulate_singles:
    input:
        tradeoff="results/tables/tradeoff.csv",
        code=package_code("tabulate_singles"),
    output:
        report(
            "results/tables/single_services.csv",
            caption="../report/single_services.rst",
            category="Results",
        ),
    log:
        "results/logs/tabulate_singles.log",
    benchmark:
        "results/benchmarks/tabulate_singles.tsv"
    conda:
        "../../envs/core.yaml"
    resources:
        mem_mb=growing(500),
    params:
        datasets=DATASETS,
    message:
        "Each service alone, beside the paper and the release"
    script:
        "../scripts/tabulate_singles.py"


rule tabulate_beyond:
    input:
        tradeoff="results/tables/tradeoff.csv",
        code=package_code("tabulate_beyond"),
    output:
        report(
            "results/tables/beyond.csv",
            caption="../report/beyond.rst",
            category="Past the paper",
        ),
    log:
        "results/logs/tabulate_beyond.log",
    benchmark:
        "results/benchmarks/tabulate_beyond.tsv"
    conda:
        "../../envs/core.yaml"
    resources:
        mem_mb=growing(500),
    params:
        tasks=TASKS,
    message:
        "Gains, areas, losses by cause, and use of the budget"
    script:
        "../scripts/tabulate_beyond.py"


rule tabulate_budgets:
    input:
        tradeoff="results/tables/tradeoff.csv",
        predictions=expand("results/predictions/{dataset}/{repetition}.npz", **EACH),
        code=package_code("tabulate_budgets"),
    output:
        report(
            "results/tables/cheapest_budget.csv",
            caption="../report/cheapest_budget.rst",
            category="Past the paper",
        ),
    log:
        "results/logs/tabulate_budgets.log",
    benchmark:
        "results/benchmarks/tabulate_budgets.tsv"
    conda:
        "../../envs/core.yaml"
    resources:
        mem_mb=growing(1000),
    params:
        cells=CELLS,
        datasets=DATASETS,
    message:
        "The cheapest budget for a target accuracy"
    script:
        "../scripts/tabulate_budgets.py"


rule measure_predictors:
    input:
        predictions=expand("results/predictions/{dataset}/{repetition}.npz", **EACH),
        plans=expand("results/plans/{dataset}/{repetition}.json", **EACH),
        code=package_code("measure_predictors"),
    output:
        report(
            "results/tables/predictor_quality.csv",
            caption="../report/predictor_quality.rst",
            category="Results",
        ),
    log:
        "results/logs/measure_predictors.log",
    benchmark:
        "results/benchmarks/measure_predictors.tsv"
    conda:
        "../../envs/core.yaml"
    resources:
        mem_mb=growing(1000),
    params:
        cells=CELLS,
        predictor=SETTINGS["predictor"],
    message:
        "Estimated against true accuracies"
    script:
        "../scripts/measure_predictors.py"


rule cross_check_offline:
    input:
        plans="results/plans/{dataset}/{repetition}.json",
        predictions="results/predictions/{dataset}/{repetition}.npz",
        code=package_code("cross_check_offline", "frugalmct.select.exact", "frugalmct.select.ilp"),
    output:
        "results/agreements/{dataset}/{repetition}.csv",
    log:
        "results/logs/cross_check_offline/{dataset}/{repetition}.log",
    benchmark:
        "results/benchmarks/cross_check_offline/{dataset}/{repetition}.tsv"
    conda:
        "../../envs/core.yaml"
    resources:
        mem_mb=growing(2000),
    params:
        time_limit=5,
    message:
        "Solvers compared on {wildcards.dataset}, repetition {wildcards.repetition}"
    script:
        "../scripts/cross_check_offline.py"


rule collect_agreements:
    input:
        # One repetition is enough to see whether the solvers agree.
        parts=expand("results/agreements/{dataset}/0.csv", dataset=DATASETS),
        code=package_code("collect_agreements"),
    output:
        report(
            "results/tables/solver_agreement.csv",
            caption="../report/solver_agreement.rst",
            category="Past the paper",
        ),
    log:
        "results/logs/collect_agreements.log",
    benchmark:
        "results/benchmarks/collect_agreements.tsv"
    conda:
        "../../envs/core.yaml"
    resources:
        mem_mb=growing(500),
    message:
        "The offline problem by several solvers"
    script:
        "../scripts/collect_agreements.py"
