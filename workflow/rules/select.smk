# Estimates to choices, and what one reaches without them: all methods and budgets of a repetition in one job.


rule select_services:
    input:
        market="results/markets/{dataset}.npz",
        split="results/splits/{dataset}/{repetition}.npz",
        combination="results/combinations/{dataset}/{repetition}.json",
        estimates="results/estimates/{dataset}/{repetition}.npz",
    output:
        plans="results/plans/{dataset}/{repetition}.json",
        choices="results/selections/{dataset}/{repetition}.csv",
    log:
        "results/logs/select_services/{dataset}/{repetition}.log",
    benchmark:
        "results/benchmarks/select_services/{dataset}/{repetition}.tsv"
    conda:
        "../../envs/core.yaml"
    params:
        code=package_code("select_services", *EXACT),
        block=selection_block,
        delta=SETTINGS["delta"],
        seed=SETTINGS["seed"],
    message:
        "Choices for {wildcards.dataset}, repetition {wildcards.repetition}"
    script:
        "../scripts/select_services.py"


rule route_plus:
    input:
        market="results/markets/{dataset}.npz",
        split="results/splits/{dataset}/{repetition}.npz",
    output:
        "results/plus/{dataset}/{repetition}.csv",
    log:
        "results/logs/route_plus/{dataset}/{repetition}.log",
    benchmark:
        "results/benchmarks/route_plus/{dataset}/{repetition}.tsv"
    # The longest job of a repetition goes first: in the end short ones then fill the cores.
    priority: 10
    conda:
        "../../envs/core.yaml"
    params:
        code=package_code("route_plus", *PLUS_FOREST),
        block=lambda wildcards: dataset_block(wildcards.dataset, "base", "budgets", *LEARNING_KEYS),
        seed=SETTINGS["seed"],
    message:
        "FrugalMCT plus on {wildcards.dataset}, repetition {wildcards.repetition}"
    script:
        "../scripts/route_plus.py"


rule evaluate_baselines:
    input:
        market="results/markets/{dataset}.npz",
        split="results/splits/{dataset}/{repetition}.npz",
        estimates="results/estimates/{dataset}/{repetition}.npz",
    output:
        "results/baselines/{dataset}/{repetition}.csv",
    log:
        "results/logs/evaluate_baselines/{dataset}/{repetition}.log",
    benchmark:
        "results/benchmarks/evaluate_baselines/{dataset}/{repetition}.tsv"
    conda:
        "../../envs/core.yaml"
    params:
        code=package_code("evaluate_baselines", *EXACT),
        block=selection_block,
        seed=SETTINGS["seed"],
    message:
        "Baselines of {wildcards.dataset}, repetition {wildcards.repetition}"
    script:
        "../scripts/evaluate_baselines.py"


rule route_per_call:
    input:
        market="results/markets/{dataset}.npz",
        split="results/splits/{dataset}/{repetition}.npz",
    output:
        rows="results/per_call/{dataset}/{repetition}.csv",
        estimates="results/call_estimates/{dataset}/{repetition}.npz",
    log:
        "results/logs/route_per_call/{dataset}/{repetition}.log",
    benchmark:
        "results/benchmarks/route_per_call/{dataset}/{repetition}.tsv"
    priority: 10
    conda:
        "../../envs/core.yaml"
    params:
        code=package_code("route_per_call", *PER_CALL_FORESTS),
        block=per_call_block,
        seed=SETTINGS["seed"],
    message:
        "FrugalMCT per call on {wildcards.dataset}, repetition {wildcards.repetition}"
    script:
        "../scripts/route_per_call.py"


rule evaluate_routers:
    input:
        market="results/markets/{dataset}.npz",
        split="results/splits/{dataset}/{repetition}.npz",
    output:
        "results/routers/{dataset}/{repetition}.csv",
    log:
        "results/logs/evaluate_routers/{dataset}/{repetition}.log",
    benchmark:
        "results/benchmarks/evaluate_routers/{dataset}/{repetition}.tsv"
    conda:
        "../../envs/core.yaml"
    params:
        code=package_code("evaluate_routers", *EXACT, *PER_CALL_FORESTS),
        block=per_call_block,
        seed=SETTINGS["seed"],
    message:
        "Other routers on {wildcards.dataset}, repetition {wildcards.repetition}"
    script:
        "../scripts/evaluate_routers.py"


rule announce_dataset:
    input:
        tables=swept_tables,
        split="results/splits/{dataset}/0.npz",
    output:
        "results/headlines/{dataset}.txt",
    log:
        "results/logs/announce_dataset/{dataset}.log",
    benchmark:
        "results/benchmarks/announce_dataset/{dataset}.tsv"
    # News is shown at once, and on a cluster where the run was started.
    priority: 20
    localrule: True
    conda:
        "../../envs/core.yaml"
    params:
        code=package_code("announce_dataset"),
        task=lambda wildcards: SETTINGS["datasets"][wildcards.dataset]["task"],
    message:
        "Headline of {wildcards.dataset}"
    script:
        "../scripts/announce_dataset.py"
