# Milestones: `snakemake <name>` makes everything of that name.


DATA_TABLES = [
    "results/tables/dataset_statistics.csv",
    "results/tables/service_prices.csv",
    *(["results/tables/simulation_fidelity.csv"] if SIMULATED else []),
]
DATA_FIGURES = expand(
    "results/figures/{stem}_label_distribution.{format}",
    stem=[name.lower() for name in LABEL_DISTRIBUTIONS],
    format=["svg", "png"],
)


rule tables:
    input:
        DATA_TABLES,
        "results/tables/tradeoff.csv",
        "results/tables/cost_savings.csv",
        "results/tables/ensembles.csv",
        "results/tables/single_services.csv",
        "results/tables/predictor_quality.csv",
        "results/tables/predictors.csv",
        "results/tables/beyond.csv",
        "results/tables/cheapest_budget.csv",
        "results/tables/solver_agreement.csv",
        expand("results/tables/{study}.csv", study=STUDIES),


rule figures:
    input:
        DATA_FIGURES,
        expand(
            "results/figures/{name}.{format}",
            name=[
                "tradeoff",
                *(f"tradeoff_{stem}" for stem in DATASET_OF_STEM),
                "cost_savings",
                "ensembles",
                "predictor_quality",
                "predictors",
                "training_size",
                "loss_split",
                *(f"case_study{ending}" for ending in CASE_OF_ENDING),
                *(f"per_label{ending}" for ending in CASE_OF_ENDING),
                *(f"solver_runtime{ending}" for ending in CASE_OF_ENDING),
            ],
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
        DATA_TABLES,
        DATA_FIGURES,


rule predictions:
    input:
        expand(
            "results/selections/{dataset}/{repetition}.csv",
            dataset=DATASETS,
            repetition=REPETITIONS,
        ),


rule headlines:
    input:
        expand("results/headlines/{dataset}.txt", dataset=DATASETS),


rule predictors:
    input:
        "results/tables/predictors.csv",
        expand("results/figures/predictors.{format}", format=["svg", "png"]),


rule report:
    input:
        "results/report.html",
