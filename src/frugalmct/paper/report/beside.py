"""The paper's numbers beside this run's: how far apart they are, by one rule for all."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from frugalmct.paper.exhibits.cost_savings import of_method
from frugalmct.paper.names import DUMMY, FRUGALMCT
from frugalmct.paper.printed import best_service, released_accuracy
from frugalmct.paper.report.html import Cell, number, tag


@dataclass(frozen=True)
class Measure:
    """How far apart still counts as equal; fitted: whether the simulation is fitted to the paper's number."""

    name: str
    tolerance: float
    share: bool = False
    fitted: bool = False

    def words(self, distance: float) -> str:
        return f"{100 * distance:.3g} points" if self.share else f"{distance:.2g}"


SAVING = Measure("saving at the best service's accuracy (%)", 0.10, share=True)
SERVICE = Measure("accuracy of the best service (%)", 0.02, share=True, fitted=True)
ACCURACY = Measure("highest accuracy of FrugalMCT (%)", 0.02, share=True, fitted=True)
RMSE = Measure("RMSE of the predictor", 0.03, fitted=True)
PCC = Measure("correlation of the predictor", 0.10, fitted=True)
MEASURES = (SAVING, SERVICE, ACCURACY, RMSE, PCC)

WITHIN, OUTSIDE, NOTHING = "within", "outside", "nothing"


def distance(ours: float | None, paper: float | None, measure: Measure) -> tuple[str, str]:
    """Kind and words: how far, and not which is better. Differences are taken to nine digits."""
    if paper is None or pd.isna(paper):
        return NOTHING, "not in the paper"
    if ours is None or pd.isna(ours):
        return NOTHING, "no value in this run"
    apart = round(float(ours) - float(paper), 9)
    if abs(apart) <= measure.tolerance:
        return WITHIN, f"as in the paper (within {measure.words(measure.tolerance)})"
    return OUTSIDE, f"{measure.words(abs(apart))} {'above' if apart > 0 else 'below'} the paper"


def badge(kind: str, words: str) -> Cell:
    """Coloured, and in words for who does not see the colour."""
    return Cell(tag("span", words, class_=f"verdict {kind}"), words)


def comparisons(tables: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Everything the paper prints that this run has too, one row each, beside what the release measures."""
    columns = ["dataset", "what", "paper", "release", "ours", "distance"]
    return pd.DataFrame(list(_rows(tables)), columns=columns)


def _rows(tables: dict[str, pd.DataFrame]) -> Iterator[dict[str, Any]]:
    statistics = tables.get("dataset_statistics", pd.DataFrame())
    dropped = dropped_services(statistics)
    kinds = dict(zip(statistics.get("dataset", []), statistics.get("data", []), strict=False))
    for measure, row in _compared(tables):
        kind, words = row["distance"]
        without = f", without {dropped[row['dataset']]}" if row["dataset"] in dropped else ""
        circular = measure.fitted and kinds.get(row["dataset"]) == "simulated"
        yield row | {"distance": badge(kind, words + without + (", fitted to it" if circular else ""))}


def dropped_services(statistics: pd.DataFrame) -> dict[str, str]:
    """Dataset -> the services left out since their answers are missing."""
    if not {"dataset", "dropped_services"} <= set(statistics):
        return {}
    rows = statistics.dropna(subset=["dropped_services"])
    return dict(zip(rows["dataset"].astype(str), rows["dropped_services"].astype(str), strict=True))


def _compared(tables: dict[str, pd.DataFrame]) -> Iterator[tuple[Measure, dict[str, Any]]]:
    savings = of_method(tables.get("cost_savings", pd.DataFrame()))
    for record in savings.to_dict("records"):
        yield from _row(record, SAVING, "saving", "paper_saving")
        yield from _row(record, SERVICE, "best_accuracy", "paper_accuracy")
    ensembles = tables.get("ensembles", pd.DataFrame())
    for record in ensembles.to_dict("records"):
        if record.get("method") == FRUGALMCT:
            yield from _row(record, ACCURACY, "accuracy", "paper_accuracy")
    for record in forest_means(tables.get("predictor_quality", pd.DataFrame())).to_dict("records"):
        yield from _row(record, RMSE, "rmse", "paper_rmse")
        yield from _row(record, PCC, "pcc", "paper_pcc")


def forest_means(quality: pd.DataFrame) -> pd.DataFrame:
    """The learnt predictor's means over repetitions, one row a dataset."""
    if not {"dataset", "predictor", "rmse"} <= set(quality):
        return pd.DataFrame()
    learnt = quality[~quality["predictor"].eq(DUMMY)]
    return learnt.groupby("dataset", sort=False).mean(numeric_only=True).reset_index()


def _row(
    record: dict[str, Any], measure: Measure, ours: str, paper: str
) -> Iterator[tuple[Measure, dict[str, Any]]]:
    printed = record.get(paper, np.nan)
    if pd.isna(printed):
        return
    yield (
        measure,
        {
            "dataset": record["dataset"],
            "what": measure.name,
            "paper": _shown(printed, measure),
            "release": _shown(_released(record["dataset"], measure), measure),
            "ours": _shown(record.get(ours, np.nan), measure),
            "distance": distance(record.get(ours), printed, measure),
        },
    )


def _released(dataset: str, measure: Measure) -> float:
    """What the authors' released answers measure, of the paper's best service."""
    known = [released_accuracy(dataset, service) for service in best_service(dataset)]
    return known[0] if measure is SERVICE and known and known[0] is not None else np.nan


def _shown(value: float, measure: Measure) -> Cell:
    if pd.isna(value):
        return Cell("–", None)
    return Cell(number(value, share=True) if measure.share else f"{value:.2f}", float(value))
