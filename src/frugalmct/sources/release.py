"""The authors' two releases on disk: which services a folder has, which files these need, and how to get it.

A dataset is one folder: `meta.csv` lists the services (index, name, price, number of labels), and the files
of a service are named after its index. Titles of columns and order of rows vary, so columns are read by their
position and services are found by their index.
"""

import csv
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from frugalmct.errors import FrugalError, listed
from frugalmct.files import write_text
from frugalmct.sources.git import clone
from frugalmct.values import shown

DEFAULT_FOLDER = "release/FrugalMCT"
META = "meta.csv"
# The largest file that is read: parsed, it takes up to 30 times as much memory.
MAX_FILE_BYTES = 256 * 2**20
MAX_INDEX = 10**9
# What a service needs to take part, by layout; what is common to all services is read with the first of them.
ANSWER_FILES = {
    "frugalmct": ("PredictedLabel",),
    "frugalml": ("PredictedLabel", "Confidence", "ImageName"),
}
# The release calls its free models GitHub(<model>); in the folders of scene text this one is PP-OCR.
FREE_MODEL = re.compile(r"GitHub\((.+)\)")
FREE_MODEL_OF_TASK = {"STR": "PP-OCR"}


class Service(NamedTuple):
    """A row of `meta.csv`; its files are `Model<number>_<what>.txt`."""

    number: int
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
    """A text file, or a sentence about why it cannot be read."""
    try:
        with path.open("rb") as handle:
            return decoded(handle.read(MAX_FILE_BYTES + 1), path)
    except FileNotFoundError:
        raise FrugalError(f"{path}: no such file; get the release anew, or correct the path.") from None
    except OSError as error:
        raise FrugalError(f"{path} cannot be read: {error.strerror or error}.") from None


def decoded(content: bytes, path: Path) -> str:
    if len(content) > MAX_FILE_BYTES:
        raise FrugalError(f"{path}: is longer than {MAX_FILE_BYTES:,} bytes; get the file anew.")
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
    try:
        rows = [row for row in csv.reader(read_text(path).splitlines()) if any(cell.strip() for cell in row)]
    except csv.Error as error:
        raise FrugalError(f"{path}: is not a table ({error}); get the file anew.") from None
    services = [_service(path, number, row) for number, row in enumerate(rows[1:], 2)]
    if not services:
        raise FrugalError(f"{path}: lists no service; below its header it must have one a line.")
    seen: set[int] = set()
    for index, _ in services:
        if index in seen:
            raise FrugalError(f"{path}: the index {index} is given twice; each service has its own.")
        seen.add(index)
    return services


def _service(path: Path, number: int, row: list[str]) -> Service:
    try:
        index, name = int(row[0]), row[1].strip()
        if not 0 <= index < MAX_INDEX:
            raise ValueError
    except (ValueError, IndexError):
        raise FrugalError(
            f"{path}, line {number}: {shown(','.join(row))} does not begin with an index and a service, such "
            "as `2,Microsoft,10,2`."
        ) from None
    return Service(index, name)


def find_services(folder: Path, wanted: Iterable[str], task: str) -> dict[str, int]:
    """Name -> index of the services that have a price."""
    known = services_in(folder)
    found = {}
    for name in wanted:
        index = next((service.number for service in known if name.casefold() in service.known_as(task)), None)
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
