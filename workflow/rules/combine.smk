# Training items to combiners, of every base that may be chosen.


rule combine_answers:
    input:
        market="results/markets/{dataset}.npz",
        split="results/splits/{dataset}/{repetition}.npz",
        code=package_code("combine_answers"),
    output:
        "results/combinations/{dataset}/{repetition}.json",
    log:
        "results/logs/combine_answers/{dataset}/{repetition}.log",
    benchmark:
        "results/benchmarks/combine_answers/{dataset}/{repetition}.tsv"
    conda:
        "../../envs/core.yaml"
    resources:
        mem_mb=growing(2000),
    params:
        # Neither features nor predictor: another one does not search for the combiners again.
        block=lambda wildcards: dataset_block(
            wildcards.dataset, "base", "metric", "labels_per_item"
        ),
        silence=SETTINGS["silence"],
    message:
        "Combiners of {wildcards.dataset}, repetition {wildcards.repetition}"
    script:
        "../scripts/combine_answers.py"
