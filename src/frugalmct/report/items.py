"""What the report shows, in the paper's order: each item with table, pictures, reading and differences."""

from collections.abc import Callable
from dataclasses import dataclass, field

import pandas as pd

from frugalmct.figures.methods import in_order, name_of
from frugalmct.report import readings
from frugalmct.report.claims import mean_by_budget
from frugalmct.report.readings import Reading


@dataclass(frozen=True)
class Item:
    """One part of the paper. `figures` are names, or after a `*` their ends; a dataset's add its name."""

    name: str
    title: str
    reading: Reading
    differs: str
    figures: tuple[str, ...] = ()
    folded: str = ""
    shown: Callable[[pd.DataFrame], pd.DataFrame] = field(default=lambda table: table)


def without_columns(*columns: str) -> Callable[[pd.DataFrame], pd.DataFrame]:
    """Of columns that say the same in every row, or nothing, the report keeps none either."""

    def shown(table: pd.DataFrame) -> pd.DataFrame:
        empty = [column for column in table if table[column].isna().all()]
        return table.drop(columns=[*columns, *empty], errors="ignore")

    return shown


CURVE_METHODS = ("frugalmct_online", "frugalmct_offline", "dap", "frugalml", "random_mix", "oracle")


def tradeoff_by_budget(table: pd.DataFrame) -> pd.DataFrame:
    """The long table is for programs; people get the means, a row a budget."""
    means = mean_by_budget(table)
    chosen = means[[method for method in CURVE_METHODS if method in means]].dropna(how="all")
    return chosen.rename(columns=lambda method: method.removeprefix("frugalmct_")).reset_index()


def labels_by_method(table: pd.DataFrame) -> pd.DataFrame:
    """A row a label, most frequent first, with precision and recall of every method side by side."""
    methods = in_order(table["method"].astype(str))
    keys = ["dataset", "label", "occurrences"]
    wide = table.pivot_table(index=keys, columns="method", values=["precision", "recall"], sort=False)
    order = [(measure, method) for measure in ("precision", "recall") for method in methods]
    wide = wide.reindex(columns=order)
    wide.columns = [f"{measure} {name_of(method)}" for measure, method in order]
    wide = wide.reset_index()
    return wide if wide["dataset"].nunique() > 1 else wide.drop(columns="dataset")


def mean_quality(table: pd.DataFrame) -> pd.DataFrame:
    numbers = table.drop(columns=["seed"], errors="ignore")
    means = numbers.groupby(["dataset", "predictor"], sort=False).mean(numeric_only=True).reset_index()
    return means.assign(predictor=means["predictor"].astype(str).str.replace("_", " "))


def predictor_rows(table: pd.DataFrame) -> pd.DataFrame:
    """Numbers with their 95 % intervals as ±; what is not installed keeps its status."""
    return table[["dataset", "predictor", "budget"]].assign(
        predictor=table["predictor"].astype(str).str.replace("_", " "),
        accuracy=_plus_minus(table, "accuracy", 100, 1),
        gain=_plus_minus(table, "gain", 100, 2),
        rmse=_plus_minus(table, "rmse", 1, 3),
        pcc=_plus_minus(table, "pcc", 1, 2),
        training_seconds=_plus_minus(table, "training_seconds", 1, 1),
        status=table["status"],
    )


def _plus_minus(table: pd.DataFrame, name: str, scale: float, digits: int) -> pd.Series:
    half = (table[f"{name}_high"] - table[f"{name}_low"]) / 2
    pairs = zip(scale * table[name], scale * half, strict=True)
    return pd.Series(
        [
            "" if pd.isna(mean) else f"{mean:.{digits}f}" + ("" if pd.isna(h) else f" ± {h:.{digits}f}")
            for mean, h in pairs
        ],
        index=table.index,
    )


def mean_training(table: pd.DataFrame) -> pd.DataFrame:
    keys = ["dataset", "budget", "train_items"]
    return table.groupby(keys, sort=False)[["accuracy", "cost"]].mean().reset_index()


def agreement_by_solver(table: pd.DataFrame) -> pd.DataFrame:
    proven = table.assign(proven=table["proven"].astype(str) == "True", difference=table["difference"].abs())
    groups = proven.groupby(["dataset", "solver"], sort=False)
    return groups.agg(
        problems=("budget", "size"), proven=("proven", "sum"), largest_difference=("difference", "max")
    ).reset_index()


def comparison_rows(table: pd.DataFrame) -> pd.DataFrame:
    """The curve over prices is for the picture."""
    rows = table[table["part"] != "price_curve"]
    return without_columns("seed", "data", "price", "paper_price")(rows)


def frequent_labels(table: pd.DataFrame) -> pd.DataFrame:
    return table.groupby("dataset", sort=False).head(20).drop(columns=["data"], errors="ignore")


PAPER_ITEMS = (
    Item(
        "worked_examples",
        "Worked examples (figure 1, c and d)",
        readings.read_examples,
        "The paper shows photographs; here answers stand as text. They are chosen by rule, failures too.",
        shown=without_columns("data", "budget", "base", "net_values"),
    ),
    Item(
        "service_prices",
        "Services and their prices",
        readings.read_prices,
        "The paper's “<0.01” for the free models is 0.01 here.",
        shown=without_columns(),
    ),
    Item(
        "dataset_statistics",
        "Datasets",
        readings.read_statistics,
        "Numbers of items follow the setting “scale”; simulated data have the paper's sizes at scale 1.",
        shown=without_columns(),
    ),
    Item(
        "case_study",
        "Case study",
        readings.read_case_study,
        "The paper's commercial solvers are replaced by free ones; the base follows the configuration.",
        ("case_study",),
        shown=comparison_rows,
    ),
    Item(
        "runtime",
        "End-to-end runtime",
        readings.read_runtime,
        "Here it is computation alone, on recorded answers; the paper's inference times seem to include the "
        "services' own. FrugalML is solved exactly instead of by a search over a grid.",
        shown=without_columns("measured", "data"),
    ),
    Item(
        "cost_savings",
        "Cost savings at the best service's accuracy",
        readings.read_savings,
        "The paper prints one number a dataset; here it is a mean over repetitions with its 95 % interval. "
        "Between two budgets the curve is taken as straight.",
        ("cost_savings",),
        shown=without_columns("repetitions", "task"),
    ),
    Item(
        "tradeoff",
        "Accuracy and cost trade-offs",
        readings.read_tradeoff,
        "Beyond the paper: 95 % bands, the oracle, and a mix drawn by lot. The table has means over "
        "repetitions, in per cent; every run is in tables/tradeoff.csv.",
        ("tradeoff",),
        "tradeoff_",
        tradeoff_by_budget,
    ),
    Item(
        "training_size",
        "Accuracy and training size",
        readings.read_training_size,
        "Everything is learnt again from each part of the training items, the combiners too.",
        ("training_size",),
        shown=mean_training,
    ),
    Item(
        "predictor_quality",
        "Quality of the accuracy predictors",
        readings.read_predictors,
        "The dummy's correlation is 0 by definition (a constant); the paper prints small numbers about 0. "
        "The table has means over repetitions.",
        ("predictor_quality",),
        shown=mean_quality,
    ),
    Item(
        "label_distribution",
        "Label distribution",
        readings.read_labels,
        "The table has the 20 most frequent labels of every dataset; pictures are made for the paper's "
        "dataset and those that are not the paper's.",
        ("*_label_distribution",),
        shown=frequent_labels,
    ),
    Item(
        "per_label",
        "Precision and recall by label",
        readings.read_per_label,
        "One heatmap instead of six bar charts.",
        ("per_label",),
        shown=labels_by_method,
    ),
    Item(
        "ensembles",
        "Comparison with ensembles",
        readings.read_ensembles,
        "Of budgets whose accuracies differ by less than 0.05 points, the cheapest is shown.",
        ("ensembles",),
        shown=without_columns("repetitions"),
    ),
)

SOLVER_ITEMS = (
    Item(
        "solver_runtime",
        "Time to choose",
        readings.read_solvers,
        "The paper times its selector against CBC, MOSEK and GUROBI at one size; here free solvers at "
        "several sizes, each with a time limit. Accuracies are those of the estimates, which all maximise.",
        ("solver_runtime",),
        shown=without_columns("data", "time_limit"),
    ),
    Item(
        "solver_agreement",
        "Do the solvers agree?",
        readings.read_agreement,
        "Not in the paper: every offline problem is solved by several solvers.",
        shown=agreement_by_solver,
    ),
)

BEYOND_ITEMS = (
    Item(
        "predictors",
        "Routing with other predictors",
        readings.read_routing,
        "The paper says that AutoML in place of the forest performs similarly, and prints no numbers. Gains "
        "are over the first predictor in the same repetition; accuracy and gain are in points, training "
        "in seconds of processor time.",
        ("predictors",),
        shown=predictor_rows,
    ),
    Item(
        "beyond",
        "Gains, areas, losses by cause, use of the budget",
        readings.read_beyond,
        "Not in the paper. Areas are mean accuracies over all costs from “area from” to “area to”; losses "
        "are means over budgets.",
        ("loss_split",),
        shown=without_columns("repetitions", "task"),
    ),
    Item(
        "cheapest_budget",
        "The cheapest budget for a target accuracy",
        readings.read_budgets,
        "Not in the paper. “Predicted” is what the training items promise before any test item is seen.",
        shown=without_columns("repetitions"),
    ),
)

DATA_ITEMS = (
    Item(
        "single_services",
        "Services alone: paper, release and this run",
        readings.read_singles,
        "The paper prints the best service of each dataset; the authors' released answers measure all of "
        "them, and on scene text and entities not what is printed.",
        shown=without_columns(),
    ),
    Item(
        "simulation_fidelity",
        "How close the simulation comes",
        readings.read_fidelity,
        "Not in the paper: its data are real. Sizes are met at scale 1 alone.",
        shown=without_columns(),
    ),
)
