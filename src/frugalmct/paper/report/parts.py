"""What stands below the first screen: own data by the questions that their owner has, then the paper's."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from frugalmct.paper.curves import DatasetResults
from frugalmct.paper.exhibit import SECTIONS, Exhibit
from frugalmct.paper.report.html import Html, tag
from frugalmct.paper.report.run import Run
from frugalmct.paper.wording import counted, percent

QUESTIONS = {
    "worth": ("Which service is worth what", ("service_worth", "single_services")),
    "budget": ("What budget for which accuracy", ("cheapest_budget", "cost_savings", "routing")),
    "sure": ("How sure this is", ("predictor_quality",)),
    "labelled": ("How much labelled data is enough", ("training_size",)),
    "lost": ("Where accuracy is lost", ("beyond", "per_label")),
    "decisions": ("Examples of decisions", ("worked_examples",)),
}
"""What owners of services ask, in this order, and the exhibits that answer it."""
REST = ("more", "More tables and figures")
# Of own exhibits beside the paper's: the same exhibit then stands on the page twice.
BESIDE = "own-"
WIDEST = 1.96


class Part(NamedTuple):
    """A section of exhibits, with the part of the run that it shows, and what is said before them."""

    identity: str
    title: str
    run: Run
    exhibits: list[Exhibit]
    lead: tuple[Html, ...] = ()
    prefix: str = ""

    def link(self, exhibit: Exhibit) -> str:
        """The identity of an exhibit in it; those that only own data have are on the page once."""
        return exhibit.name if exhibit.section == "own" else f"{self.prefix}{exhibit.name}"

    def heading(self, exhibit: Exhibit) -> str:
        return exhibit.title if self.run.papers or not self.run.datasets else exhibit.own_title


def is_about_paper(run: Run) -> bool:
    """Whether the page has the paper's part; that of a run of own data alone has none."""
    return bool(run.papers) or not run.datasets


def paper_parts(run: Run, exhibits: Sequence[Exhibit]) -> Iterator[Part]:
    if not is_about_paper(run):
        return
    rest = run.without(run.own)
    for part, title in SECTIONS.items():
        members = [exhibit for exhibit in exhibits if exhibit.section == part]
        if members and not (run.own and part == "own"):
            # Apart from the identities of exhibits: a section and an exhibit may have the same name.
            yield Part(f"part-{part}", title, rest, members)


def own_parts(run: Run, exhibits: Sequence[Exhibit]) -> Iterator[Part]:
    if not run.own:
        return
    mixed = is_about_paper(run)
    own = run.only(run.own) if mixed else run
    shown = {exhibit.name: exhibit for exhibit in exhibits if not mixed or exhibit.name in own.tables}
    prefix = BESIDE if mixed else ""
    leads = {"sure": _how_sure(own), "labelled": _how_to_ask(own)}
    for part, (title, names) in QUESTIONS.items():
        members = [shown.pop(name) for name in names if name in shown]
        lead = tuple(leads.get(part, ()))
        if members or lead:
            yield Part(f"question-{part}", title, own, members, lead, prefix)
    if shown:
        yield Part(f"question-{REST[0]}", REST[1], own, list(shown.values()), (), prefix)


def _how_sure(run: Run) -> Iterator[Html]:
    """What an interval covers, and what it does not."""
    for dataset in run.own:
        results = DatasetResults(run.tables["tradeoff"], dataset) if "tradeoff" in run.tables else None
        tested = run.test_items(dataset)
        if results is None or results.best is None or not tested:
            continue
        accuracy = results.best.accuracy
        chance = WIDEST * np.sqrt(accuracy * (1 - accuracy) / tested)
        splits = counted(len(results.repetitions), "random split")
        yield tag(
            "p",
            f"{dataset}: every number is a mean over {splits}, each tested on {tested:,} items that nothing "
            "was learnt from. Intervals are 95 % and say how far another split of these items may lie. Other "
            f"items may differ more: on {tested:,} others {results.best.name}'s {percent(accuracy)} may be "
            f"{100 * chance:.1f} points higher or lower by chance. Differences between methods are surer "
            "than that, for all are tested on the same items.",
        )


def _how_to_ask(run: Run) -> Iterator[Html]:
    """Where it was not tried, for it takes as long as all else."""
    sizes = run.tables.get("training_size")
    known = set() if sizes is None else set(sizes["dataset"].astype(str))
    for dataset in run.own:
        if dataset not in known:
            yield tag(
                "p",
                f"{dataset}: not tried in this run. To see accuracy by the number of items learnt from, add ",
                tag("code", "studies: [training_size]"),
                f" to the block of {dataset} in the configuration and run again; only that is made anew.",
            )
