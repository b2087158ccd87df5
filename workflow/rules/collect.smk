# Milestones: `snakemake <name>` makes everything of that name.


rule tables:
    input:
        "results/tables/dataset_statistics.csv",
        "results/tables/service_prices.csv",
        ["results/tables/simulation_fidelity.csv"] if SIMULATED else [],


rule figures:
    input:
        expand(
            "results/figures/{stem}_label_distribution.{format}",
            stem=[name.lower() for name in LABEL_DISTRIBUTIONS],
            format=["svg", "png"],
        ),


rule markets:
    input:
        expand("results/markets/{dataset}.npz", dataset=DATASETS),
        expand(
            "results/splits/{dataset}/{repetition}.npz",
            dataset=DATASETS,
            repetition=REPETITIONS,
        ),
        rules.tables.input,
        rules.figures.input,


rule predictions:
    input:
        expand(
            "results/selections/{dataset}/{repetition}.csv",
            dataset=DATASETS,
            repetition=REPETITIONS,
        ),
