"""Exhibits that can begin at the same moment are made by one job: most take less time than starting a job.

The job makes those of its exhibits of which code, settings or input has changed, and leaves the others as
they are. A record says what each was made from.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from frugalmct.files import write_text
from frugalmct.paper.exhibit import STAGES, STUDY, Exhibit

# Batches of several exhibits: made from the markets alone, while FrugalMCT still learns, and in the end.
DATA, ESTIMATES, CURVES = "data", "estimates", "curves"
# Exhibits with a figure per dataset are apart: while that of a new dataset is missing, Snakemake knows of no
# job to make it, and would take all other files of that job for up to date.
EACH = "_each"
_SWEPT = {"selections", "plus", "baselines", "per_call", "routers"}
# Studies that take no longer than an exhibit: nothing is gained by not waiting for them.
_QUICK = {f"{STUDY}worked_examples", f"{STUDY}per_label"}
# Another version may draw or round otherwise.
_DRAWN_BY = ("matplotlib", "numpy", "pandas")


def batches(exhibits: Sequence[Exhibit]) -> dict[str, list[Exhibit]]:
    """Name -> its exhibits, each after those whose tables it reads."""
    known = {exhibit.name: exhibit for exhibit in exhibits}
    found: dict[str, list[Exhibit]] = {}
    for exhibit in _needs_first(exhibits, known):
        found.setdefault(_batch_of(exhibit, known), []).append(exhibit)
    return found


def _needs_first(exhibits: Iterable[Exhibit], known: Mapping[str, Exhibit]) -> list[Exhibit]:
    placed: dict[str, Exhibit] = {}
    for exhibit in exhibits:
        needed = [known[need] for need in exhibit.needs if need in known]
        placed |= {other.name: other for other in [*_needs_first(needed, known), exhibit]}
    return list(placed.values())


def _batch_of(exhibit: Exhibit, known: Mapping[str, Exhibit]) -> str:
    """One that waits for a study of its own is a batch of its own, and so has its name."""
    waits_for = _origins(exhibit, known)
    if any(need.startswith(STUDY) for need in waits_for - _QUICK):
        return exhibit.name
    moment = CURVES if waits_for & _SWEPT else DATA if waits_for <= {"markets"} else ESTIMATES
    return f"{moment}{EACH}" if exhibit.plot_each else moment


def _origins(exhibit: Exhibit, known: Mapping[str, Exhibit]) -> set[str]:
    """The stages and studies that it is made from, by way of whatever tables."""
    own = {need for need in exhibit.needs if need in STAGES or need.startswith(STUDY)}
    return own.union(*(_origins(known[need], known) for need in exhibit.needs if need in known))


@dataclass(frozen=True)
class Part:
    """An exhibit of a batch: what it is made from, and the files that it becomes."""

    name: str
    code: str
    settings: Mapping[str, Any]
    files: Mapping[str, Sequence[str]]
    table: str
    figures: Sequence[str]
    caption: str

    @property
    def made(self) -> list[str]:
        return [self.table, *self.figures, self.caption]

    def origin(self) -> str:
        """A fingerprint of all that it is made from."""
        content = {need: [_digest(file) for file in files] for need, files in self.files.items()}
        tools = {tool: version(tool) for tool in _DRAWN_BY}
        given = json.dumps([asdict(self), content, tools], sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(given.encode()).hexdigest()


def changed_parts(parts: Iterable[Part], record: Path) -> Iterator[Part]:
    """The parts to be made, one at a time: each must have been made before the next is asked for.

    Of the others the files get the present time, by which Snakemake sees that they are up to date.
    """
    before = _read(record)
    now = {}
    for part in parts:
        origin = part.origin()
        if before.get(part.name) != [origin, *map(_digest, part.made)]:
            yield part
        else:
            for file in part.made:
                os.utime(file)
        now[part.name] = [origin, *map(_digest, part.made)]
    write_text(record, json.dumps(now, indent=1) + "\n")


def _digest(file: str) -> str | None:
    """Of its content; None where there is no such file."""
    with suppress(FileNotFoundError), Path(file).open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()
    return None


def _read(record: Path) -> dict[str, Any]:
    """What was kept; nothing where it cannot be read, or is not as we write it."""
    try:
        values = json.loads(record.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return values if isinstance(values, dict) else {}
