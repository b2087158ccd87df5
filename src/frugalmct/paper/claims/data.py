"""Claims about the data: sizes, prices, labels, and what each label's precision and recall show."""

import numpy as np
import pandas as pd

from frugalmct.errors import listed
from frugalmct.paper.claims.claim import NO_PAPER_DATASET, Finding, claim, not_run
from frugalmct.paper.claims.results import Results, Untestable
from frugalmct.paper.names import FRUGALMCT, SINGLE
from frugalmct.paper.printed import APPENDIX_PRICES, printed
from frugalmct.paper.wording import counted

SAMPLES = 295_212
IMAGES, MILLION, BUDGET = 5_000, 1_000_000, 6
NOT_5000 = "half of COCO, whose training the paper times, costs 191 USD to have labelled"
LABELS_PER_IMAGE = {"PASCAL": 1.44, "MIR": 3.71, "COCO": 2.91}
EASY = 0.9
NEARLY_ALL = 0.9
NO_RELEASED_LABELS = (
    "the released answers to COCO are not in this run, and simulated services do not know labels by name"
)
FITTED_SIZES = "the paper's numbers of items and labels"


@claim(
    "A released dataset of 295,212 samples",
    "section 1; section 6",
    "the nine datasets together have as many items",
    of_data=True,
    fitted=FITTED_SIZES,
)
def samples(results: Results) -> Finding:
    table = results.table("dataset_statistics")
    items = table[table["dataset"].isin(list(printed()))].set_index("dataset")["items"]
    missing = [name for name in printed() if name not in items.index]
    if missing:
        raise Untestable(not_run(missing))
    total = int(items.sum())
    return Finding(f"{total:,} items, {total - SAMPLES:+,} to the paper's", total == SAMPLES)


@claim(
    "Items, labels and distinct labels of table 2",
    "table 2",
    "every number is within 1 % of the paper's",
    of_data=True,
    fitted=FITTED_SIZES,
)
def table_2(results: Results) -> Finding:
    table = results.table("dataset_statistics").dropna(subset=["paper_items"])
    if table.empty:
        raise Untestable(NO_PAPER_DATASET)
    counts = ("items", "label_occurrences", "distinct_labels")
    apart = pd.DataFrame({name: table[name] / table[f"paper_{name}"] - 1 for name in counts})
    near = (apart.abs() <= 0.01).all(axis=1)
    far = [str(name) for name in table.loc[~near, "dataset"]]
    furthest = 100 * apart.abs().max().max()
    words = f"{near.sum()} of {counted(len(table), 'dataset')}; furthest {furthest:.1f} % away"
    return Finding(words, not far, f"not {listed(far)}" if far else "", where=far)


@claim(
    "On average 1.44 labels an image for PASCAL, 3.71 for MIR and 2.91 for COCO",
    "appendix C, datasets",
    "each mean is within 0.01 of the paper's",
    of_data=True,
    fitted=FITTED_SIZES,
)
def labels_per_image(results: Results) -> Finding:
    table = results.table("dataset_statistics").set_index("dataset")
    if missing := [name for name in LABELS_PER_IMAGE if name not in table.index]:
        raise Untestable(not_run(missing))
    found = table.loc[list(LABELS_PER_IMAGE), "labels_per_item"].astype(float)
    far = [name for name, told in LABELS_PER_IMAGE.items() if abs(round(found[name] - told, 9)) > 0.01]
    words = ", ".join(f"{name} {value:.3f}" for name, value in found.items())
    note = "by the paper's own table 2 they are 1.446, 3.716 and 2.901"
    return Finding(words, not far, note, where=far)


@claim(
    "Training costs much less than calling the selected services at a large scale, such as for millions of "
    "images",
    "section 5, training cost",
    "having 5,000 images labelled by all commercial services costs less than a tenth of answering a million "
    "at budget 6",
    fitted="the paper's prices, which are inputs",
)
def cheap_training(results: Results) -> Finding:
    labelling, answering = _labelling_cost(results), BUDGET * MILLION / 10_000
    words = f"{labelling:.2f} USD against {answering:.0f}, a {answering / labelling:.0f}th"
    return Finding(words, labelling < answering / 10, NOT_5000)


def _labelling_cost(results: Results) -> float:
    """Of 5,000 images by all commercial services, USD."""
    table = results.table("service_prices")
    table = table[table["task"] == "MIC"].drop_duplicates("service")
    wanted = {"Everypixel", "Microsoft", "Google"}
    commercial = table[table["service"].isin(wanted)]
    if set(commercial["service"]) != wanted:
        raise Untestable("not all of the paper's image services are in this run")
    return float(commercial["price_usd_per_10k"].sum()) * IMAGES / 10_000


@claim(
    "Having five thousand images labelled by all commercial image services costs 15.5 USD",
    "section 5, training cost",
    "the sum of their prices for 5,000 calls, to 0.1 USD",
    fitted="the paper's prices, which are inputs",
)
def training_cost(results: Results) -> Finding:
    cost = _labelling_cost(results)
    note = "with the free model at the appendix's price of 15 USD per 10,000 images it would be 23 USD"
    return Finding(f"{cost:.2f} USD", abs(cost - 15.5) < 0.1, note)


@claim(
    "The GitHub models cost much less than the commercial services: 0.0015, 0.000375 and 0.00000375 USD an "
    "image, text image and sentence",
    "appendix C, GitHub model cost",
    "by the paper's own prices each is below half of the cheapest commercial service beside it",
)
def free_models(results: Results) -> Finding:
    beside = {service: _cheapest_beside(service) for service in APPENDIX_PRICES}
    words = ", ".join(f"{name} {APPENDIX_PRICES[name]:g} against {beside[name]:g}" for name in beside)
    note = "table 1 prints <0.01 for all three, and that is what all costs here are computed with"
    holds = all(APPENDIX_PRICES[name] < beside[name] / 2 for name in beside)
    return Finding(f"{words} USD per 10,000", holds, note)


def _cheapest_beside(service: str) -> float:
    """Of the other services of its task, by the paper's prices."""
    blocks = [block["prices_usd_per_10k"] for block in printed().values()]
    beside = [prices for prices in blocks if service in prices]
    return min(price for prices in beside for name, price in prices.items() if name != service)


# ---- labels


@claim(
    "COCO's labels are skewed: person in over 50 % of the images; car, chair and dining table over 10 %; "
    "toaster and hair drier under 1 %",
    "appendix C, case study; figure 6",
    "each of these shares is as said",
    of_data=True,
    fitted="the order of the labels",
)
def skewed_labels(results: Results) -> Finding:
    table = results.table("label_distribution")
    shares = table[table["dataset"] == "COCO"].set_index("label")["share"]
    least = {"person": 0.5, "car": 0.1, "chair": 0.1, "dining table": 0.1}
    most = {"toaster": 0.01, "hair drier": 0.01}
    if not set(least) | set(most) <= set(shares.index):
        raise Untestable("COCO, with these labels, is not among the datasets run")
    words = ", ".join(f"{label} {100 * shares[label]:.1f} %" for label in (*least, *most))
    holds = all(shares[label] > share for label, share in least.items())
    return Finding(
        words, bool(holds and all(shares[label] < share for label, share in most.items())), where=["COCO"]
    )


def _by_label(results: Results, measure: str) -> pd.DataFrame:
    """Of the first dataset studied: one row per label that occurs, one column per method."""
    table = results.table("per_label")
    table = table[(table["dataset"] == table["dataset"].iloc[0]) & (table["occurrences"] > 0)]
    wide = table.pivot_table(index="label", columns="method", values=measure, aggfunc="mean")
    if FRUGALMCT not in wide or not _services(wide):
        raise Untestable("FrugalMCT or the services have no labels in this run")
    return wide


def _f1(results: Results) -> pd.DataFrame:
    """One row per label, one column per service; 0 where it never gives the label."""
    precision, recall = (_by_label(results, measure) for measure in ("precision", "recall"))
    return (2 * precision * recall / (precision + recall)).reindex(columns=_services(recall)).fillna(0.0)


def _services(wide: pd.DataFrame) -> list[str]:
    return [method for method in wide if str(method).startswith(SINGLE)]


@claim(
    "FrugalMCT improves precision and recall for almost every label compared to any single service",
    "appendix C, case study; figures 7 and 8",
    "for 90 % of the labels, against every service, both are at least as high",
    one_split=True,
)
def precision_and_recall(results: Results) -> Finding:
    better = {}
    for measure in ("precision", "recall"):
        # A label that a service never gives has no precision: nothing to be better than.
        wide = _by_label(results, measure)
        best = wide[_services(wide)].max(axis=1)
        better[measure] = (wide[FRUGALMCT] >= best - 1e-12) | best.isna()
    frame = pd.DataFrame(better).fillna(False).astype(bool)
    both = frame.all(axis=1)
    dataset = results.table("per_label")["dataset"].iloc[0]
    words = (
        f"both for {both.sum()} of {len(frame)} labels of {dataset}; "
        f"precision for {frame['precision'].sum()}, recall for {frame['recall'].sum()}"
    )
    note = "keeping more labels raises recall and lowers precision: both rise together on few"
    return Finding(words, bool(both.mean() >= NEARLY_ALL), "" if both.mean() >= NEARLY_ALL else note)


@claim(
    "No service is universally better than the others for each label",
    "appendix C, case study",
    "for every service some label has a higher F1 with another",
    one_split=True,
)
def none_universal(results: Results) -> Finding:
    f1 = _f1(results)
    services = list(f1)
    leads = {name: float((f1[name] >= f1.max(axis=1)).mean()) for name in services}
    name = max(leads, key=lambda service: leads[service])
    words = f"{name.removeprefix(SINGLE)} leads most often, on {100 * leads[name]:.0f} % of {len(f1)} labels"
    return Finding(words, leads[name] < 1)


@claim(
    "Some labels are easy for all: zebra has 90 % precision and recall with every service; hair drier cannot "
    "be predicted; airplane has much more recall than precision with FrugalMCT, banana the reverse",
    "appendix C, case study; figures 7 and 8",
    "each is as said on the released answers to COCO",
    of_data=True,
    one_split=True,
)
def single_labels(results: Results) -> Finding:
    table = results.table("per_label")
    if results.data.get("COCO") != "release" or not (table["dataset"] == "COCO").any():
        raise Untestable(NO_RELEASED_LABELS)
    precision, recall = (_by_label(results, measure) for measure in ("precision", "recall"))
    services = _services(recall)
    easiest = float(np.nanmin([precision.loc["zebra", services], recall.loc["zebra", services]]))
    drier = float(recall.loc["hair drier", FRUGALMCT])
    gaps = {name: float((recall - precision).loc[name, FRUGALMCT]) for name in ("airplane", "banana")}
    words = (
        f"zebra at least {100 * easiest:.0f} %; hair drier's recall {100 * drier:.0f} %; "
        f"recall less precision {', '.join(f'{name} {100 * gap:+.0f} points' for name, gap in gaps.items())}"
    )
    holds = easiest >= EASY - 0.05 and drier < 0.05 and gaps["airplane"] > 0 > gaps["banana"]
    return Finding(words, bool(holds), where=["COCO"])


@claim(
    "Services differ by label: GitHub's model and Microsoft can hardly predict toaster, Everypixel and "
    "Google can; Everypixel has a low accuracy on kite and knife, where the others have a higher one",
    "appendix C, case study; figures 7 and 8",
    "by F1 each is as said on the released answers to COCO",
    of_data=True,
    one_split=True,
)
def labels_by_service(results: Results) -> Finding:
    table = results.table("per_label")
    if results.data.get("COCO") != "release" or not (table["dataset"] == "COCO").any():
        raise Untestable(NO_RELEASED_LABELS)
    f1 = _f1(results).rename(columns=lambda name: str(name).removeprefix(SINGLE))
    names, labels = {"SSD", "Everypixel", "Microsoft", "Google"}, ["toaster", "kite", "knife"]
    if not names <= set(f1) or not set(labels) <= set(f1.index):
        raise Untestable("not all of these services and labels are in this run")
    words = "; ".join(
        f"{label}: {', '.join(f'{name} {100 * f1.loc[label, name]:.0f} %' for name in sorted(names))}"
        for label in labels
    )
    toaster, others = f1.loc["toaster"], ["SSD", "Microsoft", "Google"]
    holds = toaster[["Everypixel", "Google"]].min() > toaster[["SSD", "Microsoft"]].max()
    for label in labels[1:]:
        holds = holds and f1.loc[label, "Everypixel"] < f1.loc[label, others].min()
    return Finding(words, bool(holds), where=["COCO"])


@claim(
    "Where the base's answer is reliable it is returned alone; where an add-on promises much, it is called "
    "and improves the answer",
    "section 1; figure 1c and d",
    "the run has an example of each, and the add-on's is more accurate than the base alone",
    one_split=True,
)
def examples(results: Results) -> Finding:
    table = results.table("worked_examples")
    if not {"base_accuracy", "result_accuracy"} <= set(table):
        raise Untestable("the examples have no accuracies")
    table = table.dropna(subset=["base_accuracy", "result_accuracy"]).astype(
        {"base_accuracy": float, "result_accuracy": float}
    )
    alone = table["decision"].astype(str).str.endswith(" alone")
    helped = ~alone & (table["result_accuracy"] > table["base_accuracy"])
    words = (
        f"{alone.sum()} examples of the base alone, {helped.sum()} with an add-on that improves the answer"
    )
    return Finding(words, bool(alone.any() and helped.any()), "examples of failures stand beside them")


@claim(
    "FrugalML's computation is exponential in the number of labels; FrugalMCT's does not depend on it",
    "abstract; section 1; section 2",
    "needs FrugalML with a rule for every label",
)
def exponential(results: Results) -> Finding:
    raise Untestable(
        "FrugalML with a rule for every label was not run; the paper itself compares with FrugalML on one "
        "superclass of all labels, and so does this run"
    )


CLAIMS = (
    exponential,
    samples,
    examples,
    table_2,
    labels_per_image,
    training_cost,
    cheap_training,
    free_models,
    skewed_labels,
    precision_and_recall,
    none_universal,
    single_labels,
    labels_by_service,
)
