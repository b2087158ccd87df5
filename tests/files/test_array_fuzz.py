"""Every damaged or forged file loads what it holds or is refused in one sentence; none crashes or swells."""

import pytest
from array_damage import DAMAGES
from array_originals import KINDS
from children import HERE, run

FILES = 84
MOST_MIB = 1024
SEEDS = range(2, 4)
MORE_FILES = 100


def fuzzed(folder, count: int, seed: int) -> dict:
    found = run([str(HERE / "array_fuzz.py"), str(folder), str(count), str(seed)])
    assert found["counts"].keys() == {f"{kind}: {damage}" for kind in KINDS for damage in DAMAGES}
    assert found["peak_mib"] < MOST_MIB
    return found["counts"]


def test_five_thousand_files(tmp_path):
    counts = fuzzed(tmp_path, FILES, seed=1)
    assert all(sum(found.values()) == FILES for found in counts.values())
    assert sum(sum(found.values()) for found in counts.values()) >= 5000
    # A fuzz that never loads, or never refuses, tries nothing.
    loaded = sum(found["loaded"] for found in counts.values())
    assert 0.05 < loaded / (FILES * len(counts)) < 0.5


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_more_files(tmp_path, seed):
    counts = fuzzed(tmp_path, MORE_FILES, seed)
    assert sum(sum(found.values()) for found in counts.values()) == MORE_FILES * len(counts)
