"""Loads damaged and forged array files by the thousand, in a process of its own.

    python array_fuzz.py FOLDER FILES_PER_DAMAGE SEED

prints one JSON object: how many files of each kind and damage were loaded or refused, and the peak of memory.
It ends with an error at the first file that is neither.
"""

import faulthandler
import json
import random
import resource
import sys
from pathlib import Path
from typing import Any

from array_damage import DAMAGES
from array_originals import KINDS, Kind, make_originals, members, same_values

from frugalmct.errors import FrugalError

# Far above what is allowed, and below what would harm the machine.
ADDRESS_SPACE = 6 * 2**30


def peak_mib() -> int:
    """Of this program alone: what getrusage says begins with the program that started it."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(status.partition("VmHWM:")[2].split()[0]) // 1024


def outcome(kind: Kind, path: Path, good: dict[str, Any]) -> str:
    """`loaded` or `refused`; anything else is an AssertionError."""
    try:
        found = kind.load(path)
    except FrugalError as error:
        sentence = str(error)
        assert sentence.startswith(f"{path}: ") and sentence.endswith("."), sentence
        assert sentence.isprintable() and len(sentence) < 800, sentence
        assert "fit into memory" not in sentence, sentence
        return "refused"
    kind.use(found)
    again = path.with_suffix(".again")
    kind.save(found, again)
    try:
        expected = members(path)
    except Exception:  # numpy gives up on what we could read: then it is the file as it was
        expected = good
    assert same_values(members(again), expected), "loaded something else than the file holds"
    return "loaded"


def fuzz(folder: Path, count: int, seed: int) -> dict[str, Any]:
    counts = {}
    for name, original in make_originals().items():
        kind, path = KINDS[name], folder / "bad.npz"
        kind.save(original, folder / "good.npz")
        good, content = members(folder / "good.npz"), (folder / "good.npz").read_bytes()
        assert outcome(kind, folder / "good.npz", good) == "loaded"
        for damage, make in DAMAGES.items():
            rng = random.Random(f"{seed} {name} {damage}")
            found = {"loaded": 0, "refused": 0}
            for number, bad in enumerate(make(content, rng, count)):
                path.write_bytes(bad)
                before = peak_mib()
                try:
                    found[outcome(kind, path, good)] += 1
                except BaseException:
                    print(f"{name}, {damage}, file {number}: {path}", file=sys.stderr)
                    raise
                if peak_mib() > max(1024, before):
                    raise AssertionError(f"{name}, {damage}, file {number} took {peak_mib()} MiB")
            counts[f"{name}: {damage}"] = found
    return {"counts": counts, "peak_mib": peak_mib()}


if __name__ == "__main__":
    faulthandler.enable()
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    print(json.dumps(fuzz(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))))
