# Markets to training, validation and test items.


rule split_market:
    input:
        market="results/markets/{dataset}.npz",
        code=package_code("split_market"),
    output:
        "results/splits/{dataset}/{repetition}.npz",
    log:
        "results/logs/split_market/{dataset}/{repetition}.log",
    benchmark:
        "results/benchmarks/split_market/{dataset}/{repetition}.tsv"
    conda:
        "../../envs/core.yaml"
    resources:
        mem_mb=growing(1000),
    params:
        train_share=SETTINGS["train_share"],
        validation_share=SETTINGS["validation_share"],
        seed=SETTINGS["seed"],
    message:
        "Split {wildcards.repetition} of {wildcards.dataset}"
    script:
        "../scripts/split_market.py"
