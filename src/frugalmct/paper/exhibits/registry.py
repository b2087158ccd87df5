"""The exhibits, one line each. Apart from the package itself: a new line makes no other exhibit again."""

from frugalmct.paper.exhibit import Exhibit, load_exhibit

# In the order of the report.
EXHIBITS = (
    "service_worth",
    "routing",
    "claims",
    "worked_examples",
    "service_prices",
    "dataset_statistics",
    "case_study",
    "runtime",
    "cost_savings",
    "tradeoff",
    "training_size",
    "predictor_quality",
    "label_distribution",
    "per_label",
    "ensembles",
    "solver_runtime",
    "solver_agreement",
    "predictors",
    "ablation",
    "beyond",
    "cheapest_budget",
    "robustness",
    "single_services",
    "simulation_fidelity",
)


def all_exhibits() -> list[Exhibit]:
    return [load_exhibit(name) for name in EXHIBITS]
