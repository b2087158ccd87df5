import numpy as np
import pandas as pd
import pytest

from frugalmct.paper.exhibits.predictors import COLUMNS, predictors_table
from frugalmct.paper.studies.predictors import COLUMNS as STUDY_COLUMNS


def repetition(number: int, forest: float, other: float) -> pd.DataFrame:
    shared = {"dataset": "D", "repetition": number, "base": "b", "status": "ok", "data": "recorded"}
    shared["budget"] = 1.0
    measured = {"cost": 1.0, "rmse": 0.2, "pcc": 0.5, "training_seconds": 1.0}
    rows = [
        shared | measured | {"predictor": name, "accuracy": a} for name, a in (("f", forest), ("o", other))
    ]
    rows.append(shared | {"predictor": "gone", "status": "not installed: x", "budget": np.nan})
    return pd.DataFrame(rows, columns=STUDY_COLUMNS)


def test_gains_are_paired_and_have_intervals():
    repetitions = [repetition(0, 0.5, 0.52), repetition(1, 0.7, 0.71), repetition(2, 0.6, 0.63)]
    found = predictors_table(pd.concat(repetitions, ignore_index=True))
    assert list(found.columns) == [column.name for column in COLUMNS]
    assert found["predictor"].tolist() == ["f", "o", "gone"]
    other = found.iloc[1]
    assert other["repetitions"] == 3 and other["gain"] == pytest.approx(0.02)
    half = 4.302652729911275 * 0.01 / np.sqrt(3)  # Student's t at 97.5 %, two degrees of freedom
    assert other["gain_high"] - other["gain"] == pytest.approx(half, rel=1e-6)
    assert (found.iloc[0][["gain", "gain_low", "gain_high"]] == 0).all()
    assert found.iloc[2]["status"] == "not installed: x" and np.isnan(found.iloc[2]["accuracy"])
