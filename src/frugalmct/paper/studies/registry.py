"""The studies, one line each. Apart from the package itself: a new line makes no other study again."""

STUDIES = (
    "ablation",
    "case_study",
    "per_label",
    "predictors",
    "robustness",
    "runtime",
    "solver_agreement",
    "solver_runtime",
    "training_size",
    "worked_examples",
)

# Of these there is one in `calls` too, for datasets whose calls have costs of their own.
CALL_STUDIES = ("robustness", "solver_agreement", "solver_runtime", "training_size")
