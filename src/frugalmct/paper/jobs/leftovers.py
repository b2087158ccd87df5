"""Tables and figures of an earlier run that are not part of this one: they must not lie beside fresh ones.

After `only` was narrowed, or a dataset or service removed, files of what is gone would stay and look current.
Only what this program made is removed, and a file itself says so: a figure by a mark in it, a table by its
columns, a headline by its words. Markets, estimates and what else is not for readers stay: they save time
when a dataset comes back.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from frugalmct.paper.names import DONE, MADE_BY

if TYPE_CHECKING:
    from frugalmct.paper.exhibit import Exhibit

_ENDINGS = (".svg", ".png")


def remove_figures(exhibit: str, figures: Iterable[str | Path], folder: Path) -> list[Path]:
    """Of one exhibit, the figures of datasets that it does not show any more."""
    return _removed(_figures(folder / exhibit), figures)


def remove_others(
    exhibits: "Iterable[Exhibit]",
    kept: Iterable[str | Path],
    datasets: Iterable[str],
    results: Path,
) -> list[Path]:
    """Tables, captions and figures of exhibits, and headlines of datasets, that this run has not got.

    exhibits: all that there are; kept: the tables and figures of this run.
    """
    files = {Path(file).absolute() for file in kept}
    shown = {file.stem for file in files if file.suffix == ".csv"}
    found: list[Path] = []
    for exhibit in exhibits:
        found += _figures(results / "figures" / exhibit.name)
        if exhibit.name not in shown:
            whole = [results / "figures" / f"{exhibit.name}{ending}" for ending in _ENDINGS]
            found += filter(is_own_figure, whole)
            found += _tables(exhibit, results)
    current = {f"{name}.txt" for name in datasets}
    headlines = [file for file in _files(results / "headlines", (".txt",)) if file.name not in current]
    return _removed([*found, *filter(is_headline, headlines)], files)


def is_own_figure(path: Path) -> bool:
    """Whether we drew it: it says so near its beginning."""
    try:
        with path.open("rb") as handle:
            return MADE_BY.encode() in handle.read(2000)
    except OSError:
        return False


def is_headline(path: Path) -> bool:
    """Whether it holds the headline of the dataset that it is named after."""
    try:
        return path.read_text(encoding="utf-8").startswith(f"{path.stem} {DONE}: ")
    except (OSError, UnicodeDecodeError):
        return False


def _figures(folder: Path) -> list[Path]:
    return [file for file in _files(folder, _ENDINGS) if is_own_figure(file)]


def _files(folder: Path, endings: tuple[str, ...]) -> list[Path]:
    return sorted(file for file in folder.glob("*") if file.suffix in endings and file.is_file())


def _tables(exhibit: "Exhibit", results: Path) -> Iterator[Path]:
    """Its table, and with it its caption."""
    table = results / "tables" / f"{exhibit.name}.csv"
    header = ",".join(column.name for column in exhibit.columns)
    with suppress(OSError, UnicodeDecodeError), table.open(encoding="utf-8") as handle:
        if handle.readline(len(header) + 2).rstrip("\n") == header:
            yield table
            yield results / "captions" / f"{exhibit.name}.rst"


def _removed(files: Iterable[Path], kept: Iterable[str | Path]) -> list[Path]:
    current = {Path(file).absolute() for file in kept}
    gone = [file for file in files if file.absolute() not in current and file.is_file()]
    for file in gone:
        file.unlink(missing_ok=True)
    return gone
