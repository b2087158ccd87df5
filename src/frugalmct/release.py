"""The authors' two releases on disk: which services a folder has, which files these need, and how to get it.

A dataset is one folder: `meta.csv` lists the services (index, name, price, number of labels), and the files
of a service are named after its index. Titles of columns and order of rows vary, so columns are read by their
position and services are found by their index.
"""

import csv
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from frugalmct.errors import FrugalError, listed
from frugalmct.files import write_text

DEFAULT_FOLDER = "release/FrugalMCT"
META = "meta.csv"
# What a service needs to take part, by layout; what is common to all services is read with the first of them.
ANSWER_FILES = {
    "frugalmct": ("PredictedLabel",),
    "frugalml": ("PredictedLabel", "Confidence", "ImageName"),
}
# The release calls its free models GitHub(<model>); in the folders of scene text this one is PP-OCR.
FREE_MODEL = re.compile(r"GitHub\((.+)\)")
FREE_MODEL_OF_TASK = {"STR": "PP-OCR"}


class Service(NamedTuple):
    """A row of `meta.csv`; its files are `Model<index>_<what>.txt`."""

    index: int
    name: str

    def known_as(self, task: str) -> set[str]:
        """Every name it goes by, in small letters: the release writes EveryPixel, the paper Everypixel."""
        names = {self.name}
        if free := FREE_MODEL.fullmatch(self.name):
            names |= {FREE_MODEL_OF_TASK.get(task, free[1])}
        return {name.casefold() for name in names}


def dataset_folder(release: str | Path, dataset: str) -> Path:
    return Path(release) / "dataset" / f"mlserviceperformance_{dataset}"


def file_of(folder: Path, index: int, what: str) -> Path:
    """A file of a service; where there is only a zip of it, that."""
    plain = folder / f"Model{index}_{what}.txt"
    packed = plain.with_suffix(".zip")
    return packed if packed.is_file() and not plain.is_file() else plain


def read_text(path: Path) -> str:
    """A text file, or a sentence about why it can not be read."""
    try:
        return decoded(path.read_bytes(), path)
    except FileNotFoundError:
        raise FrugalError(f"{path}: no such file; get the release anew, or correct the path.") from None
    except OSError as error:
        raise FrugalError(f"{path} can not be read: {error.strerror or error}.") from None


def decoded(content: bytes, path: Path) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FrugalError(
            f"{path}: byte 0x{content[error.start]:02x} at position {error.start} is not UTF-8; "
            "get the file anew."
        ) from None


def services_in(folder: Path) -> list[Service]:
    """The services that the folder's `meta.csv` lists."""
    if not folder.is_dir():
        raise FrugalError(
            f"{folder}: no such folder; it must be that of one dataset of the release: get it whole, or "
            "leave the dataset out with `only`."
        )
    path = folder / META
    rows = [row for row in csv.reader(read_text(path).splitlines()) if any(cell.strip() for cell in row)]
    services = [_service(path, number, row) for number, row in enumerate(rows[1:], 2)]
    if not services:
        raise FrugalError(f"{path}: lists no service; below its header it must have one a line.")
    indices = [service.index for service in services]
    for index in indices:
        if indices.count(index) > 1:
            raise FrugalError(f"{path}: the index {index} is given twice; each service has its own.")
    return services


def _service(path: Path, number: int, row: list[str]) -> Service:
    try:
        index, name = int(row[0]), row[1].strip()
    except (ValueError, IndexError):
        raise FrugalError(
            f"{path}, line {number}: {','.join(row)!r} does not begin with an index and a service, such as "
            "`2,Microsoft,10,2`."
        ) from None
    return Service(index, name)


def find_services(folder: Path, wanted: Iterable[str], task: str) -> dict[str, int]:
    """Name -> index of the services that have a price."""
    known = services_in(folder)
    found = {}
    for name in wanted:
        index = next((service.index for service in known if name.casefold() in service.known_as(task)), None)
        if index is None:
            names = [service.name for service in known]
            raise FrugalError(f"{folder / META}: has no service '{name}'; its services: {listed(names)}.")
        found[name] = index
    return found


def missing_answers(kind: str, folder: Path, wanted: Iterable[str], task: str) -> dict[str, list[Path]]:
    """Service -> the files of its answers that are not there; only services that lack any."""
    missing = {
        name: [path for what in ANSWER_FILES[kind] if not (path := file_of(folder, index, what)).is_file()]
        for name, index in find_services(folder, wanted, task).items()
    }
    return {name: paths for name, paths in missing.items() if paths}


def refuse_missing(missing: Mapping[str, Iterable[Path]]) -> NoReturn:
    files = listed(path for paths in missing.values() for path in paths)
    raise FrugalError(
        f"The answers of {listed(missing)} are missing: there is no {files}; get the whole release, or go on "
        "without these services by missing_services: drop."
    )


# ---- getting it


def fetch_release(
    output: str | Path,
    folder: str | Path,
    source: Mapping[str, str],
    datasets: Mapping[str, Mapping[str, Any]],
    missing_services: str,
) -> dict[str, Any]:
    """Clones the release if its folder is not there, checks what there is, and writes down what was found."""
    folder = Path(folder)
    fetched = not folder.is_dir()
    if fetched:
        clone(folder, source["url"], source["commit"])
    found = {name: _checked(Path(block["source"]["path"]), block) for name, block in datasets.items()}
    lacking = {f"{name}'s {service}": paths for name, m in found.items() for service, paths in m.items()}
    if lacking and missing_services == "error":
        refuse_missing(lacking)
    record = {
        "folder": str(folder),
        "fetched": f"{source['url']} at {source['commit']}" if fetched else None,
        "missing": {name: [str(path) for path in paths] for name, paths in lacking.items()},
    }
    write_text(output, json.dumps(record, indent=1) + "\n")
    return record


def _checked(folder: Path, block: Mapping[str, Any]) -> dict[str, list[Path]]:
    return missing_answers(block["source"]["kind"], folder, block["prices"], block["task"])


def clone(folder: Path, url: str, commit: str) -> None:
    """The files of one commit; they appear under `folder` whole or not at all."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}."))
    try:
        _git(temporary, url, "init", "--quiet")
        # A connection that stands still is given up: with no network a run must end, and say so.
        patience = ("-c", "http.lowSpeedLimit=1000", "-c", "http.lowSpeedTime=60")
        _git(temporary, url, *patience, "fetch", "--quiet", "--depth", "1", url, commit)
        _git(temporary, url, "checkout", "--quiet", "--detach", "FETCH_HEAD")
        got = _git(temporary, url, "rev-parse", "HEAD")
        if got != commit:
            raise FrugalError(f"{url} gave commit {got} instead of {commit}; correct release_source.commit.")
        temporary.chmod(0o755)
        temporary.replace(folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _git(folder: Path, url: str, *arguments: str) -> str:
    command = ["git", "-C", str(folder), *arguments]
    environment = os.environ | {"GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
    remedy = (
        "with no network, copy the release from a machine that has one and name its folder: "
        "--config release_dir=FOLDER."
    )
    try:
        outcome = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    except OSError as error:
        raise FrugalError(
            f"The release can not be fetched: git does not start ({error.strerror}); {remedy}"
        ) from None
    if outcome.returncode:
        told = (outcome.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise FrugalError(f"The release can not be fetched from {url} ({told}); {remedy}")
    return outcome.stdout.strip()
