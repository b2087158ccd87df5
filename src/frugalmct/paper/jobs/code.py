"""Which files of this package a script depends on, found by reading it rather than running it.

Snakemake sees a script but not what the script imports. Rules have a fingerprint of these files as a
parameter, so that editing a module re-runs what depends on it and nothing else. Were they input files,
Snakemake would look up every one of them several times a second.
"""

import ast
import hashlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[2]


@cache
def code_files(script: Path, *plugins: str) -> tuple[Path, ...]:
    """The package's modules that `script` imports, at any depth, and the data files they name.

    Plug-ins are imported by name at run time, which no reading can follow: the modules of those that the
    script will use are given.
    """
    found: dict[str, Path] = {}
    waiting = [*_imported(script, ""), *(part for plugin in plugins for part in _with_parents(plugin))]
    while waiting:
        module = waiting.pop()
        if module not in found and (file := _module_file(module)):
            found[module] = file
            waiting += _imported(file, module if file.name == "__init__.py" else module.rpartition(".")[0])
    data = {file for module in found.values() for file in _named_data(module)}
    return tuple(sorted({*found.values(), *data}))


@cache
def code_digest(script: Path, *plugins: str) -> str:
    """A fingerprint of the package code that a script depends on."""
    digest = hashlib.sha256()
    for file in code_files(script, *plugins):
        digest.update(f"{file.relative_to(PACKAGE)}\0".encode() + _content(file))
    return digest.hexdigest()[:16]


@cache
def _content(file: Path) -> bytes:
    return hashlib.sha256(file.read_bytes()).digest()


def _nodes(file: Path) -> Iterator[ast.AST]:
    """All of a module but what only type checkers read."""
    waiting: list[ast.AST] = [ast.parse(file.read_text(encoding="utf-8"), str(file))]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        yield node
        waiting += ast.iter_child_nodes(node)


@cache
def _imported(file: Path, package: str) -> tuple[str, ...]:
    """Modules named in any import statement, also those inside functions; `package` is that of the file."""
    return tuple(_imports(file, package))


def _imports(file: Path, package: str) -> Iterator[str]:
    for node in _nodes(file):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _with_parents(alias.name)
        elif isinstance(node, ast.ImportFrom):
            origin = package.rsplit(".", node.level - 1)[0] if node.level else ""
            module = ".".join(part for part in (origin, node.module) if part)
            yield from _with_parents(module)
            yield from (f"{module}.{alias.name}" for alias in node.names)


def _with_parents(module: str) -> Iterator[str]:
    """Importing a.b.c runs a and a.b too."""
    parts = module.split(".")
    return (".".join(parts[:end]) for end in range(1, len(parts) + 1))


def _module_file(module: str) -> Path | None:
    first, *rest = module.split(".")
    if first != PACKAGE.name:
        return None
    place = PACKAGE.joinpath(*rest)
    candidates = [place / "__init__.py", place.with_suffix(".py")] if rest else [PACKAGE / "__init__.py"]
    return next((file for file in candidates if file.is_file()), None)


@cache
def _named_data(file: Path) -> tuple[Path, ...]:
    """Files beside the code that a string in it names, in full or by their folder."""
    return tuple(_named(file))


def _named(file: Path) -> Iterator[Path]:
    for node in _nodes(file):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and _looks_like_path(node.value):
            place = PACKAGE / node.value
            if place.is_dir():
                yield from (data for data in place.rglob("*") if _is_data(data))
            elif _is_data(place):
                yield place


def _looks_like_path(text: str) -> bool:
    return 0 < len(text) < 200 and text[0].isalnum() and not any(sign in text for sign in "\n\0: ")


def _is_data(file: Path) -> bool:
    return file.is_file() and file.suffix not in (".py", ".pyc")
