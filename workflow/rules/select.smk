# Estimates to choices, all methods and budgets in one job.


rule select_services:
    input:
        combination="results/combinations/{dataset}/{repetition}.json",
        predictions="results/predictions/{dataset}/{repetition}.npz",
        code=package_code("select_services", "frugalmct.select.exact"),
    output:
        "results/selections/{dataset}/{repetition}.csv",
    log:
        "results/logs/select_services/{dataset}/{repetition}.log",
    benchmark:
        "results/benchmarks/select_services/{dataset}/{repetition}.tsv"
    conda:
        "../../envs/core.yaml"
    resources:
        mem_mb=growing(2000),
    message:
        "Choices for {wildcards.dataset}, repetition {wildcards.repetition}"
    script:
        "../scripts/select_services.py"
