# Sources to markets, and the tables and pictures that describe them.


rule fetch_release:
    input:
        code=package_code("fetch_release"),
    output:
        "results/release.json",
    log:
        "results/logs/fetch_release.log",
    benchmark:
        "results/benchmarks/fetch_release.tsv"
    conda:
        "../../envs/core.yaml"
    resources:
        mem_mb=growing(1000),
    params:
        folder=release_folder(SETTINGS),
        source=SETTINGS["release_source"],
        datasets={name: dataset_block(name, "task", "source", "prices") for name in FETCHED},
        missing=SETTINGS["missing_services"],
    message:
        "The authors' release in {params.folder}"
    script:
        "../scripts/fetch_release.py"


rule make_market:
    input:
        data=source_files,
        code=source_code,
    output:
        "results/markets/{dataset}.npz",
    log:
        "results/logs/make_market/{dataset}.log",
    benchmark:
        "results/benchmarks/make_market/{dataset}.tsv"
    conda:
        "../../envs/core.yaml"
    resources:
        mem_mb=growing(2000),
    params:
        block=lambda wildcards: dataset_block(wildcards.dataset, "task", "source", "prices"),
        seed=SETTINGS["seed"],
        scale=SETTINGS["scale"],
        compress=SETTINGS["compress_markets"],
    message:
        "Market of {wildcards.dataset}"
    script:
        "../scripts/make_market.py"


rule tabulate_datasets:
    input:
        markets=expand("results/markets/{dataset}.npz", dataset=DATASETS),
        code=package_code("tabulate_datasets"),
    output:
        statistics=report(
            "results/tables/dataset_statistics.csv",
            caption="../report/dataset_statistics.rst",
            category="Data",
        ),
        labels="results/tables/label_distribution.csv",
    log:
        "results/logs/tabulate_datasets.log",
    benchmark:
        "results/benchmarks/tabulate_datasets.tsv"
    conda:
        "../../envs/core.yaml"
    resources:
        mem_mb=growing(2000),
    params:
        dropped=DROPPED,
    message:
        "Statistics and labels of the datasets"
    script:
        "../scripts/tabulate_datasets.py"


rule tabulate_prices:
    input:
        code=package_code("tabulate_prices"),
    output:
        report(
            "results/tables/service_prices.csv",
            caption="../report/service_prices.rst",
            category="Data",
        ),
    log:
        "results/logs/tabulate_prices.log",
    benchmark:
        "results/benchmarks/tabulate_prices.tsv"
    conda:
        "../../envs/core.yaml"
    resources:
        mem_mb=growing(500),
    params:
        datasets={name: dataset_block(name, "task", "prices") for name in DATASETS},
        dropped=DROPPED,
    message:
        "Prices of the services"
    script:
        "../scripts/tabulate_prices.py"


rule measure_fidelity:
    input:
        markets=expand("results/markets/{dataset}.npz", dataset=SIMULATED),
        code=package_code("measure_fidelity"),
    output:
        report(
            "results/tables/simulation_fidelity.csv",
            caption="../report/simulation_fidelity.rst",
            category="Data",
        ),
    log:
        "results/logs/measure_fidelity.log",
    benchmark:
        "results/benchmarks/measure_fidelity.tsv"
    conda:
        "../../envs/core.yaml"
    resources:
        mem_mb=growing(2000),
    message:
        "Simulated markets against what they stand for"
    script:
        "../scripts/measure_fidelity.py"


rule plot_label_distribution:
    input:
        labels="results/tables/label_distribution.csv",
        code=package_code("plot_label_distribution"),
    output:
        report(
            "results/figures/{stem}_label_distribution.svg",
            caption="../report/label_distribution.rst",
            category="Data",
        ),
        "results/figures/{stem}_label_distribution.png",
    log:
        "results/logs/plot_label_distribution/{stem}.log",
    benchmark:
        "results/benchmarks/plot_label_distribution/{stem}.tsv"
    conda:
        "../../envs/core.yaml"
    resources:
        mem_mb=growing(500),
    params:
        dataset=lambda wildcards: DATASET_OF_STEM[wildcards.stem],
    message:
        "Figure of the labels of {params.dataset}"
    script:
        "../scripts/plot_label_distribution.py"
