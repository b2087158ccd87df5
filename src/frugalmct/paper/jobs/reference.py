"""What jobs of the default run took on a named machine: what to expect where nothing was run yet."""

import time
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import yaml

FILE = Path(__file__).parents[1] / "reference_times.yaml"
ITEMS, COLUMNS, TRIES = 2_000, 16, 5


def pace() -> float:
    """Seconds that this machine takes for a tree, as forests grow them: the least of a few tries."""
    from sklearn.tree import DecisionTreeRegressor

    numbers = np.random.default_rng(0).random((ITEMS, COLUMNS + 4))
    taken = []
    for _ in range(TRIES):
        start = time.perf_counter()
        DecisionTreeRegressor(max_features=COLUMNS, random_state=0).fit(numbers[:, 4:], numbers[:, :4])
        taken.append(time.perf_counter() - start)
    return min(taken)


def reference() -> tuple[dict[str, float], str]:
    """Rule -> seconds of a job as they would be on this machine, and where they come from, in words."""
    kept = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    slower = pace() / kept["pace"]
    seconds = {rule: slower * value for rule, value in kept["seconds"].items()}
    return (
        seconds,
        f"by the default run on {kept['machine']}, where a tree takes {1 / slower:.2f} times as long",
    )


def keep(seconds: Mapping[str, float], machine: str) -> None:
    """Writes what `reference` reads."""
    kept = {
        "machine": machine,
        "pace": round(pace(), 5),
        "seconds": {rule: round(value, 2) for rule, value in sorted(seconds.items())},
    }
    words = "# Seconds of a mean job of every rule of the default run, by `python tools/keep_times.py`.\n"
    FILE.write_text(words + yaml.safe_dump(kept, sort_keys=False), encoding="utf-8")
