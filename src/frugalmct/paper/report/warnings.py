"""What is allowed but rarely meant, of the datasets of a run: what the console said, kept for readers."""

from collections.abc import Iterator

from frugalmct.paper.config.doubts import dataset_doubts
from frugalmct.paper.report.html import Html, tag
from frugalmct.paper.report.run import Run
from frugalmct.suspicions import few_test_items, one_label


def warnings_box(run: Run) -> Html:
    """Nothing where there is nothing to warn of."""
    lines = list(warning_lines(run))
    if not lines:
        return Html("")
    return tag(
        "div", tag("h2", "Warnings"), tag("ul", *(tag("li", line) for line in lines)), class_="warnings"
    )


def warning_lines(run: Run) -> Iterator[str]:
    for dataset in run.datasets:
        yield from (f"{dataset}: {sentence}" for sentence in _of(run, dataset))


def _of(run: Run, dataset: str) -> Iterator[str]:
    block = run.settings.get("datasets", {}).get(dataset, {})
    if {"prices", "budgets", "unit"} <= set(block):
        yield from dataset_doubts(block, run.mean_costs(dataset))
    tested = run.test_items(dataset)
    if tested is not None:
        yield from few_test_items(tested)
    counts = ["items", "label_occurrences", "largest_label_set"]
    found = run.statistics[run.statistics["dataset"].astype(str) == dataset]
    if "labels_per_item" in block and set(counts) <= set(found) and found[counts].notna().all(axis=None):
        items, labels, largest = found[counts].iloc[0].astype(int).tolist()
        yield from one_label(items, labels, largest, block["labels_per_item"])
