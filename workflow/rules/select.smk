# Estimates to base, buffer and choices, all methods and budgets in one job.


rule select_services:
    input:
        split="results/splits/{dataset}/{repetition}.npz",
        predictions="results/predictions/{dataset}/{repetition}.npz",
        code=package_code("select_services", "frugalmct.select.exact"),
    output:
        plans="results/plans/{dataset}/{repetition}.json",
        choices="results/selections/{dataset}/{repetition}.csv",
    log:
        "results/logs/select_services/{dataset}/{repetition}.log",
    benchmark:
        "results/benchmarks/select_services/{dataset}/{repetition}.tsv"
    conda:
        "../../envs/core.yaml"
    resources:
        mem_mb=growing(2000),
    params:
        budgets=lambda wildcards: SETTINGS["datasets"][wildcards.dataset]["budgets"],
        delta=SETTINGS["delta"],
    message:
        "Choices for {wildcards.dataset}, repetition {wildcards.repetition}"
    script:
        "../scripts/select_services.py"
