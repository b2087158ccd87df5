"""The chart of when each job ran."""

import numpy as np
import pandas as pd

from frugalmct.paper.plotting import save_figure
from frugalmct.paper.report.jobs_chart import LONGEST_PAUSE, lanes, last_run, plot_jobs


def jobs(starts: np.ndarray, seconds: np.ndarray, rules: int = 3) -> pd.DataFrame:
    names = [f"rule_{number % rules}" for number in range(len(starts))]
    return pd.DataFrame({"rule": names, "start": starts, "end": starts + seconds})


def random_jobs(count: int) -> pd.DataFrame:
    rng = np.random.default_rng(5)
    return jobs(np.sort(rng.uniform(0, 900, count)), rng.exponential(5, count), rules=37)


def test_jobs_of_a_lane_never_overlap_and_lanes_are_as_few_as_can_be():
    ran = random_jobs(400)
    placed = ran.assign(lane=lanes(ran["start"], ran["end"]))
    for _, lane in placed.groupby("lane"):
        assert (lane["start"].to_numpy()[1:] >= lane["end"].to_numpy()[:-1]).all()
    at_once = [((ran["start"] <= now) & (ran["end"] > now)).sum() for now in ran["start"]]
    assert placed["lane"].nunique() == max(at_once)


def test_jobs_before_a_long_pause_are_an_earlier_run():
    pause = LONGEST_PAUSE + 1
    # A long job bridges the pause between the second and the third.
    starts, seconds = np.array([0.0, 1000, 1001, 1005 + pause]), np.array([1.0, 5 + pause, 2, 3])
    assert last_run(jobs(starts, seconds))["start"].tolist() == [1000, 1001, 1005 + pause]
    assert len(last_run(jobs(starts[:1], seconds[:1]))) == 1


def test_many_jobs_are_drawn_small_and_named_by_rule(tmp_path):
    figure = plot_jobs(random_jobs(308))
    save_figure(figure, [tmp_path / "jobs.svg"])
    assert (tmp_path / "jobs.svg").stat().st_size < 200_000
    named = [entry.get_text() for entry in figure.legends[0].get_texts()]
    assert len(named) == 12 and named[-1].startswith("26 other rules: ")
    assert sum(len(bars) for bars in figure.axes[0].containers) == 308


def test_no_jobs_say_so():
    text = plot_jobs(pd.DataFrame(columns=["rule", "start", "end"])).axes[0].texts[0].get_text()
    assert text.startswith("Nothing to show")
