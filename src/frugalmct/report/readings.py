"""Two lines on each item, made from its numbers: what they say, never what one would like them to."""

from collections.abc import Callable

import pandas as pd

from frugalmct.errors import listed
from frugalmct.figures.methods import name_of
from frugalmct.report.claims import mean_by_budget

# The paper prints accuracies in per cent with one digit.
PRINTED_DIGITS = 0.0005 + 1e-9
Tables = dict[str, pd.DataFrame]
Reading = Callable[[Tables], list[str]]


def percent(share: float, digits: int = 1) -> str:
    return f"{100 * share:.{digits}f} %"


def points(share: float) -> str:
    return f"{100 * share:+.1f} points"


def money(cost: float) -> str:
    return f"{cost:.3g} USD"


def read_prices(tables: Tables) -> list[str]:
    table = tables["service_prices"].dropna(subset=["price_usd_per_10k"])
    cheapest, dearest = table["price_usd_per_10k"].min(), table["price_usd_per_10k"].max()
    told = table["paper_price_usd_per_10k"].dropna()
    same = (table.loc[told.index, "price_usd_per_10k"] - told).abs().lt(1e-9).sum()
    return [
        f"{len(table)} prices of services ({listed(table['task'].unique())}), "
        f"from {money(cheapest)} to {money(dearest)} per 10,000 calls.",
        f"{same} of {len(told)} prices that the paper has are the same here.",
    ]


def read_statistics(tables: Tables) -> list[str]:
    table = tables["dataset_statistics"]
    simulated, released = ((table["data"] == kind).sum() for kind in ("simulated", "released"))
    printed = table.dropna(subset=["paper_items"])
    share = printed["items"].sum() / printed["paper_items"].sum() if len(printed) else float("nan")
    return [
        f"{len(table)} datasets with {table['items'].sum():,} items; {simulated} of them simulated, "
        f"{released} from the authors' release.",
        f"Of the paper's datasets {percent(share, 0)} of the items are used here."
        if len(printed)
        else "None of them is the paper's.",
    ]


def read_singles(tables: Tables) -> list[str]:
    table = tables["single_services"]
    printed = table.dropna(subset=["release_minus_paper"])
    apart = printed[printed["release_minus_paper"].abs() > PRINTED_DIGITS]
    told = [f"{row.dataset} {points(row.release_minus_paper)}" for row in apart.itertuples()]
    lines = [
        f"Of {len(printed)} services that the paper prints, the release measures {len(told)} differently"
        f"{f': {listed(told)}' if told else ''}."
    ]
    both = table.dropna(subset=["accuracy", "release_accuracy"])
    if len(both):
        largest = (both["accuracy"] - both["release_accuracy"]).abs().max()
        lines.append(f"This run is within {100 * largest:.1f} points of the release for every service.")
    return lines


def read_fidelity(tables: Tables) -> list[str]:
    table = tables["simulation_fidelity"].dropna(subset=["within"])
    met = table["within"].astype(str) == "True"
    missed = table.loc[~met, "quantity"].value_counts()
    told = ", ".join(f"{quantity} {count} times" for quantity, count in missed.items())
    return [
        f"{met.sum()} of {len(table)} targets are met.",
        f"Missed: {told}." if told else "None is missed.",
    ]


def read_examples(tables: Tables) -> list[str]:
    table = tables["worked_examples"]
    called = (~table["decision"].astype(str).str.endswith(" alone")).sum()
    return [
        f"{len(table)} items, each to show something else; an add-on is called for {called} of them.",
        f"Their accuracy is between {percent(table['result_accuracy'].min(), 0)} and "
        f"{percent(table['result_accuracy'].max(), 0)}; failures are shown as well.",
    ]


def read_case_study(tables: Tables) -> list[str]:
    table = tables["case_study"]
    table = table[table["dataset"] == table["dataset"].iloc[0]]
    shares = table[table["part"] == "shares"].sort_values("share", ascending=False)
    most = shares.iloc[0]
    compared = table[table["part"] == "comparison"].set_index("name")
    lines = [f"The most frequent decision is {most['name']}, for {percent(most['share'])} of the items."]
    if "frugalmct" in compared.index:
        ours = compared.loc["frugalmct"]
        others = compared.drop("frugalmct")
        told = [
            f"{name_of(str(name))} ({percent(row['accuracy'])} at {money(row['cost'])})"
            for name, row in others.iterrows()
        ]
        lines.append(
            f"FrugalMCT reaches {percent(ours['accuracy'])} at {money(ours['cost'])}, beside {listed(told)}."
        )
    return lines


def read_runtime(tables: Tables) -> list[str]:
    table = tables["runtime"]
    table = table[table["dataset"] == table["dataset"].iloc[0]].set_index("method")
    lines = []
    for column, word in (("training_seconds", "Training"), ("inference_seconds", "Inference")):
        told = [f"{name_of(str(name))} {value:.3g} s" for name, value in table[column].dropna().items()]
        lines.append(f"{word}: {listed(told)}.")
    return lines


def read_savings(tables: Tables) -> list[str]:
    table = tables["cost_savings"].dropna(subset=["saving"])
    if table.empty:
        return ["No dataset has a saving in this run."]
    least, most = table.loc[table["saving"].idxmin()], table.loc[table["saving"].idxmax()]
    same = table.dropna(subset=["paper_saving"])
    beside = f" The paper's mean over the same datasets is {percent(same['paper_saving'].mean(), 0)}."
    return [
        f"The mean saving is {percent(table['saving'].mean(), 0)} over {len(table)} datasets."
        + (beside if len(same) else ""),
        f"It is least on {least['dataset']} ({percent(least['saving'], 0)}) and most on "
        f"{most['dataset']} ({percent(most['saving'], 0)}).",
    ]


def read_tradeoff(tables: Tables) -> list[str]:
    means = mean_by_budget(tables["tradeoff"])
    lines = []
    for other in ("frugalml", "dap"):
        if {"frugalmct_online", other} <= set(means):
            lead = (means["frugalmct_online"] - means[other]).dropna()
            lines.append(
                f"Against {name_of(other)} FrugalMCT is {points(lead.mean())} on average over budgets, "
                f"between {points(lead.min())} and {points(lead.max())}."
            )
    return lines


def read_training_size(tables: Tables) -> list[str]:
    lines = []
    for dataset, rows in tables["training_size"].groupby("dataset", sort=False):
        means = rows.groupby("train_items")["accuracy"].mean()
        near = means[means >= means.max() - 0.01].index[0]
        lines.append(
            f"{dataset}: from {percent(means.iloc[0])} with {means.index[0]:,} items to "
            f"{percent(means.iloc[-1])} with {means.index[-1]:,}; "
            f"within one point of its best from {near:,} on."
        )
    return lines


def read_predictors(tables: Tables) -> list[str]:
    means = tables["predictor_quality"].groupby("predictor", sort=False)[["rmse", "pcc"]].mean()
    return [
        f"{str(name).replace('_', ' ')}: RMSE {row['rmse']:.2f} and correlation {row['pcc']:.2f}, "
        "means over datasets."
        for name, row in means.iterrows()
    ]


def read_routing(tables: Tables) -> list[str]:
    table = tables["predictors"]
    gains = table.dropna(subset=["gain"]).groupby("predictor", sort=False)
    reference, *others = [str(name) for name, _ in gains] or [""]
    against = reference.replace("_", " ")
    lines = []
    for name in others:
        own = gains.get_group(name)
        lines.append(
            f"{name.replace('_', ' ')}: {100 * own['gain'].mean():+.2f} points against {against}, mean over "
            f"datasets and budgets; above it at {(own['gain'] > 0).sum()} of {len(own)}; "
            f"trained in {own['training_seconds'].mean():.1f} s of processor time."
        )
    without = table[table["gain"].isna()].drop_duplicates("predictor")
    return [*lines, *(f"{row.predictor.replace('_', ' ')}: {row.status}" for row in without.itertuples())]


def read_labels(tables: Tables) -> list[str]:
    lines = []
    for dataset, rows in tables["label_distribution"].groupby("dataset", sort=False):
        first, rare = rows.loc[rows["share"].idxmax()], (rows["share"] < 0.01).sum()
        lines.append(
            f"{dataset}: the most frequent of {len(rows):,} labels is “{first['label']}”, on "
            f"{percent(first['share'])} of the items; {rare:,} labels are on less than 1 %."
        )
    return lines


def read_per_label(tables: Tables) -> list[str]:
    table = tables["per_label"]
    table = table[table["dataset"] == table["dataset"].iloc[0]]
    recall = table.pivot_table(index="label", columns="method", values="recall", aggfunc="mean")
    ours = next((name for name in ("frugalmct", "frugalmct_online") if name in recall), None)
    single = [name for name in recall if str(name).startswith("single:")]
    lines = []
    if ours and single:
        best = (recall[ours] >= recall[single].max(axis=1) - 1e-9).sum()
        lines.append(
            f"FrugalMCT's recall is at or above every single service's on {best} of {len(recall)} labels."
        )
        never = table[(table["method"] == ours) & (table["predicted"] == 0)]["label"]
        shown = f", such as {listed(never.astype(str).head(8))}" if len(never) else ""
        lines.append(f"Labels that it never predicts: {len(never)}{shown}.")
    return lines


def read_ensembles(tables: Tables) -> list[str]:
    table = tables["ensembles"].pivot_table(index="dataset", columns="method", values=["accuracy", "cost"])
    accuracy, cost = table["accuracy"], table["cost"]
    if "frugalmct" not in accuracy:
        return ["FrugalMCT has no value in this run."]
    lines = []
    for other in ("weighted_majority_vote", "majority_vote"):
        if other in accuracy:
            ahead = (accuracy["frugalmct"] >= accuracy[other] - 1e-9).sum()
            ratio = (cost[other] / cost["frugalmct"]).median()
            lines.append(
                f"FrugalMCT is at or above the {name_of(other).lower()} on {ahead} of {len(table)} datasets; "
                f"the vote costs {ratio:.1f} times as much (median)."
            )
    return lines


def read_solvers(tables: Tables) -> list[str]:
    table = tables["solver_runtime"].dropna(subset=["seconds"])
    if table.empty:
        return ["No solver has a time in this run."]
    largest = table[table["items"] == table["items"].max()]
    done = largest[largest["status"].isin(["optimal", "online", "rounded"])].sort_values("seconds")
    told = [f"{row.solver} {row.seconds:.3g} s" for row in done.itertuples()]
    stopped = largest.loc[~largest.index.isin(done.index), "solver"].astype(str)
    return [
        f"With {largest['items'].iloc[0]:,} items: {listed(told)}."
        if told
        else "None was done with most items.",
        f"Stopped before their proof: {listed(stopped)}." if len(stopped) else "None was stopped.",
    ]


def read_agreement(tables: Tables) -> list[str]:
    table = tables["solver_agreement"]
    difference, proven = table["difference"].abs().max(), (table["proven"].astype(str) == "True").mean()
    return [
        f"Over {len(table):,} problems the largest difference in accuracy is {difference:.2g}.",
        f"{percent(proven)} of the solutions are proven to be the best.",
    ]


def read_beyond(tables: Tables) -> list[str]:
    table = tables["beyond"]
    gain, overrun = table["gain_at_best_cost"], table["largest_overrun_online"].max()
    losses = table[["loss_combiner", "loss_predictor", "loss_price"]].mean()
    told = [f"{name.removeprefix('loss_')} {100 * loss:.1f}" for name, loss in losses.items()]
    return [
        f"At the best service's cost FrugalMCT is {points(gain.mean())} on average "
        f"({points(gain.min())} to {points(gain.max())}); its largest overrun of a budget is {overrun:.2g}.",
        f"Points of accuracy lost, mean over datasets and budgets: {listed(told)}.",
    ]


def read_budgets(tables: Tables) -> list[str]:
    table = tables["cheapest_budget"]
    reached = table["budget"].notna()
    return [
        f"{reached.sum()} of {len(table)} targets are reached by some budget.",
        "A target is the accuracy of a service, or a few points more than the best one's.",
    ]
