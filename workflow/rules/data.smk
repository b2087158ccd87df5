# Sources to answers, and answers to markets with their prices, and to training, validation and test items.


rule fetch_release:
    output:
        "results/release.json",
    log:
        "results/logs/fetch_release.log",
    benchmark:
        "results/benchmarks/fetch_release.tsv"
    conda:
        "../../envs/core.yaml"
    params:
        code=package_code("fetch_release"),
        folder=release_folder(SETTINGS),
        source=SETTINGS["release_source"],
        datasets={name: dataset_block(name, "task", "source", "prices") for name in FETCHED},
        missing=SETTINGS["missing_services"],
    message:
        "The authors' release in {params.folder}"
    script:
        "../scripts/fetch_release.py"


rule read_answers:
    input:
        fetched_record,
    output:
        "results/answers/{dataset}.npz",
    log:
        "results/logs/read_answers/{dataset}.log",
    benchmark:
        "results/benchmarks/read_answers/{dataset}.tsv"
    conda:
        "../../envs/core.yaml"
    params:
        code=source_code,
        content=lambda wildcards: source_content(wildcards.dataset),
        block=answers_block,
        seed=SETTINGS["seed"],
        scale=SETTINGS["scale"],
        compress=SETTINGS["compress_markets"],
    message:
        "Answers of {wildcards.dataset}"
    script:
        "../scripts/read_answers.py"


rule make_market:
    input:
        "results/answers/{dataset}.npz",
    output:
        "results/markets/{dataset}.npz",
    log:
        "results/logs/make_market/{dataset}.log",
    benchmark:
        "results/benchmarks/make_market/{dataset}.tsv"
    conda:
        "../../envs/core.yaml"
    params:
        code=package_code("make_market"),
        block=lambda wildcards: market_block(wildcards.dataset),
        budgets=lambda wildcards: unpriced_budgets(wildcards.dataset),
        compress=SETTINGS["compress_markets"],
    message:
        "Market of {wildcards.dataset}"
    script:
        "../scripts/make_market.py"


rule split_market:
    input:
        "results/answers/{dataset}.npz",
    output:
        "results/splits/{dataset}/{repetition}.npz",
    log:
        "results/logs/split_market/{dataset}/{repetition}.log",
    benchmark:
        "results/benchmarks/split_market/{dataset}/{repetition}.tsv"
    conda:
        "../../envs/core.yaml"
    params:
        code=package_code("split_market"),
        labels_per_item=lambda wildcards: BLOCKS[wildcards.dataset]["labels_per_item"],
        train_share=SETTINGS["train_share"],
        validation_share=SETTINGS["validation_share"],
        seed=SETTINGS["seed"],
    message:
        "Split {wildcards.repetition} of {wildcards.dataset}"
    script:
        "../scripts/split_market.py"
