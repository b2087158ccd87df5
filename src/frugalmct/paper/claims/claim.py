"""What a claim is, how it is tested, and by which rule it gets its verdict: never by hand."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from frugalmct.errors import listed
from frugalmct.paper.claims.results import Results, Untestable

HOLDS = "holds"
FAILS = "does not hold"
CANNOT = "cannot be tested on this data"
DIFFERS = "differs because of data"
ONE_SPLIT = "One split, so that there is no interval."
VERDICTS = (FAILS, DIFFERS, HOLDS, CANNOT)
"""In the order in which they are shown: what fails first."""


@dataclass(frozen=True)
class Finding:
    """What a test found: the numbers in words, and whether the claim holds by them; None if they cannot tell.

    note: what a reader should know besides; where: the datasets on which it fails, all by default.
    """

    measured: str
    holds: bool | None
    note: str = ""
    where: Sequence[str] | None = None


@dataclass(frozen=True)
class Claim:
    """A claim of the paper.

    place: where it stands; test: what is asked of the numbers, in words; of_data: whether it states numbers
    of the paper's own data, so that other data may differ without the method being at fault; fitted: what the
    simulation is fitted to that makes a verdict on simulated data circular; one_split: whether its numbers
    come from a study of one repetition.
    """

    sentence: str
    place: str
    test: str
    check: Callable[[Results], Finding]
    of_data: bool = False
    fitted: str = ""
    one_split: bool = False

    def row(self, results: Results) -> dict[str, Any]:
        """Of the exhibit."""
        try:
            finding = self.check(results)
        except Untestable as reason:
            measured, verdict, note = "", CANNOT, _sentence(str(reason))
        else:
            measured, verdict = finding.measured, verdict_of(self, finding, results)
            note = _sentence(finding.note)
        if verdict != CANNOT and self.one_split:
            note = f"{note} {ONE_SPLIT}".strip()
        if self.fitted and results.simulated and verdict != CANNOT:
            note = f"{note} Circular on simulated data: the simulation is fitted to {self.fitted}.".strip()
        return {
            "claim": self.sentence,
            "place": self.place,
            "measured": measured,
            "test": self.test,
            "verdict": verdict,
            "note": note,
        }


def verdict_of(claim: Claim, finding: Finding, results: Results) -> str:
    """One rule for all: what fails is the method's fault, unless the claim is of data not at hand."""
    if finding.holds is None:
        return CANNOT
    if finding.holds:
        return HOLDS
    where = results.datasets if finding.where is None else finding.where
    if claim.of_data and not any(map(results.has_papers_data, where)):
        return DIFFERS
    return FAILS


def claim(
    sentence: str, place: str, test: str, *, of_data: bool = False, fitted: str = "", one_split: bool = False
) -> Callable[[Callable[[Results], Finding]], Claim]:
    """Makes a claim of the function that tests it."""
    return lambda check: Claim(sentence, place, test, check, of_data, fitted, one_split)


def _sentence(text: str) -> str:
    text = text.strip()
    return f"{text[0].upper()}{text[1:].rstrip('.')}." if text else ""


NO_PAPER_DATASET = "no dataset of the paper is among those run"


def not_run(names: Mapping[str, Any] | Sequence[str]) -> str:
    """Why a claim about some datasets cannot be tested."""
    names = list(names)
    return f"{listed(names)} {'is' if len(names) == 1 else 'are'} not among the datasets run"
