# Tables to pictures. A picture reads tables alone, so a new look never runs anything else again.

# The case study's own dataset gives the plain names; further ones are told by their ending.
_main_case = next(
    (name for name in CASES if name == SETTINGS["case_study"]["dataset"]), next(iter(CASES))
)
CASE_OF_ENDING = {"": _main_case} | {
    f"_{name.lower()}": name for name in CASES if name != _main_case
}


wildcard_constraints:
    # In brackets: Snakemake would take an empty text for no constraint at all.
    case=f"(?:{'|'.join(map(re.escape, CASE_OF_ENDING))})",


rule plot_tradeoff:
    input:
        table="results/tables/tradeoff.csv",
        statistics="results/tables/dataset_statistics.csv",
        code=package_code("plot_tradeoff"),
    output:
        report(
            "results/figures/tradeoff.svg",
            caption="../report/figure_tradeoff.rst",
            category="Results",
        ),
        "results/figures/tradeoff.png",
    log:
        "results/logs/plot_tradeoff.log",
    benchmark:
        "results/benchmarks/plot_tradeoff.tsv"
    conda:
        "../../envs/core.yaml"
    resources:
        mem_mb=growing(500),
    message:
        "Figure of accuracy and cost, all datasets"
    script:
        "../scripts/plot_tradeoff.py"


rule plot_dataset_tradeoff:
    input:
        table="results/tables/tradeoff.csv",
        statistics="results/tables/dataset_statistics.csv",
        code=package_code("plot_dataset_tradeoff"),
    output:
        report(
            "results/figures/tradeoff_{stem}.svg",
            caption="../report/figure_dataset_tradeoff.rst",
            category="Results",
        ),
        "results/figures/tradeoff_{stem}.png",
    log:
        "results/logs/plot_dataset_tradeoff/{stem}.log",
    benchmark:
        "results/benchmarks/plot_dataset_tradeoff/{stem}.tsv"
    conda:
        "../../envs/core.yaml"
    resources:
        mem_mb=growing(500),
    params:
        dataset=lambda wildcards: DATASET_OF_STEM[wildcards.stem],
    message:
        "Figure of accuracy and cost of {params.dataset}"
    script:
        "../scripts/plot_dataset_tradeoff.py"


rule plot_cost_savings:
    input:
        table="results/tables/cost_savings.csv",
        statistics="results/tables/dataset_statistics.csv",
        code=package_code("plot_cost_savings"),
    output:
        report(
            "results/figures/cost_savings.svg",
            caption="../report/figure_cost_savings.rst",
            category="Results",
        ),
        "results/figures/cost_savings.png",
    log:
        "results/logs/plot_cost_savings.log",
    benchmark:
        "results/benchmarks/plot_cost_savings.tsv"
    conda:
        "../../envs/core.yaml"
    resources:
        mem_mb=growing(500),
    message:
        "Figure of the cost savings"
    script:
        "../scripts/plot_cost_savings.py"


rule plot_ensembles:
    input:
        table="results/tables/ensembles.csv",
        statistics="results/tables/dataset_statistics.csv",
        code=package_code("plot_ensembles"),
    output:
        report(
            "results/figures/ensembles.svg",
            caption="../report/figure_ensembles.rst",
            category="Results",
        ),
        "results/figures/ensembles.png",
    log:
        "results/logs/plot_ensembles.log",
    benchmark:
        "results/benchmarks/plot_ensembles.tsv"
    conda:
        "../../envs/core.yaml"
    resources:
        mem_mb=growing(500),
    message:
        "Figure of FrugalMCT and ensembles"
    script:
        "../scripts/plot_ensembles.py"


rule plot_predictor_quality:
    input:
        table="results/tables/predictor_quality.csv",
        statistics="results/tables/dataset_statistics.csv",
        code=package_code("plot_predictor_quality"),
    output:
        report(
            "results/figures/predictor_quality.svg",
            caption="../report/figure_predictor_quality.rst",
            category="Results",
        ),
        "results/figures/predictor_quality.png",
    log:
        "results/logs/plot_predictor_quality.log",
    benchmark:
        "results/benchmarks/plot_predictor_quality.tsv"
    conda:
        "../../envs/core.yaml"
    resources:
        mem_mb=growing(500),
    message:
        "Figure of the accuracy predictors"
    script:
        "../scripts/plot_predictor_quality.py"


rule plot_predictors:
    input:
        table="results/tables/predictors.csv",
        statistics="results/tables/dataset_statistics.csv",
        code=package_code("plot_predictors"),
    output:
        report(
            "results/figures/predictors.svg",
            caption="../report/figure_predictors.rst",
            category="Past the paper",
        ),
        "results/figures/predictors.png",
    log:
        "results/logs/plot_predictors.log",
    benchmark:
        "results/benchmarks/plot_predictors.tsv"
    conda:
        "../../envs/core.yaml"
    resources:
        mem_mb=growing(500),
    message:
        "Figure of routing with other predictors"
    script:
        "../scripts/plot_predictors.py"


rule plot_training_size:
    input:
        table="results/tables/training_size.csv",
        statistics="results/tables/dataset_statistics.csv",
        code=package_code("plot_training_size"),
    output:
        report(
            "results/figures/training_size.svg",
            caption="../report/figure_training_size.rst",
            category="Studies",
        ),
        "results/figures/training_size.png",
    log:
        "results/logs/plot_training_size.log",
    benchmark:
        "results/benchmarks/plot_training_size.tsv"
    conda:
        "../../envs/core.yaml"
    resources:
        mem_mb=growing(500),
    message:
        "Figure of accuracy and training size"
    script:
        "../scripts/plot_training_size.py"


rule plot_case_study:
    input:
        table="results/tables/case_study.csv",
        statistics="results/tables/dataset_statistics.csv",
        solvers="results/tables/solver_runtime.csv",
        code=package_code("plot_case_study"),
    output:
        report(
            "results/figures/case_study{case}.svg",
            caption="../report/figure_case_study.rst",
            category="Studies",
        ),
        "results/figures/case_study{case}.png",
    log:
        "results/logs/plot_case_study/figure{case}.log",
    benchmark:
        "results/benchmarks/plot_case_study/figure{case}.tsv"
    conda:
        "../../envs/core.yaml"
    resources:
        mem_mb=growing(500),
    params:
        dataset=lambda wildcards: CASE_OF_ENDING[wildcards.case],
    message:
        "Figure of the case study of {params.dataset}"
    script:
        "../scripts/plot_case_study.py"


rule plot_per_label:
    input:
        table="results/tables/per_label.csv",
        statistics="results/tables/dataset_statistics.csv",
        code=package_code("plot_per_label"),
    output:
        report(
            "results/figures/per_label{case}.svg",
            caption="../report/figure_per_label.rst",
            category="Studies",
        ),
        "results/figures/per_label{case}.png",
    log:
        "results/logs/plot_per_label/figure{case}.log",
    benchmark:
        "results/benchmarks/plot_per_label/figure{case}.tsv"
    conda:
        "../../envs/core.yaml"
    resources:
        mem_mb=growing(500),
    params:
        dataset=lambda wildcards: CASE_OF_ENDING[wildcards.case],
    message:
        "Figure of the labels of {params.dataset}, method by method"
    script:
        "../scripts/plot_per_label.py"


rule plot_solver_runtime:
    input:
        table="results/tables/solver_runtime.csv",
        statistics="results/tables/dataset_statistics.csv",
        code=package_code("plot_solver_runtime"),
    output:
        report(
            "results/figures/solver_runtime{case}.svg",
            caption="../report/figure_solver_runtime.rst",
            category="Studies",
        ),
        "results/figures/solver_runtime{case}.png",
    log:
        "results/logs/plot_solver_runtime/figure{case}.log",
    benchmark:
        "results/benchmarks/plot_solver_runtime/figure{case}.tsv"
    conda:
        "../../envs/core.yaml"
    resources:
        mem_mb=growing(500),
    params:
        dataset=lambda wildcards: CASE_OF_ENDING[wildcards.case],
    message:
        "Figure of the solvers' times on {params.dataset}"
    script:
        "../scripts/plot_solver_runtime.py"


rule plot_loss_split:
    input:
        table="results/tables/beyond.csv",
        statistics="results/tables/dataset_statistics.csv",
        code=package_code("plot_loss_split"),
    output:
        report(
            "results/figures/loss_split.svg",
            caption="../report/figure_loss_split.rst",
            category="Past the paper",
        ),
        "results/figures/loss_split.png",
    log:
        "results/logs/plot_loss_split.log",
    benchmark:
        "results/benchmarks/plot_loss_split.tsv"
    conda:
        "../../envs/core.yaml"
    resources:
        mem_mb=growing(500),
    message:
        "Figure of where accuracy is lost"
    script:
        "../scripts/plot_loss_split.py"
