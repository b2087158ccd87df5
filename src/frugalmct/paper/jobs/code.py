"""Which files of this package a script depends on, found by reading it rather than running it.

Snakemake sees a script but not what the script imports. Rules have a fingerprint of these files as a
parameter, so that editing a module re-runs what depends on it and nothing else. Were they input files,
Snakemake would look up every one of them several times a second.
"""

import ast
import hashlib
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import CodeType

PACKAGE = Path(__file__).parents[2]
# Where statements stand within statements.
_BODIES = ("body", "orelse", "finalbody", "handlers", "cases")


@cache
def code_files(script: Path, *plugins: str) -> tuple[Path, ...]:
    """The package's modules that `script` imports, at any depth, and the data files they name.

    Plug-ins are imported by name at run time, which no reading can follow: the modules of those that the
    script will use are given.
    """
    found: dict[str, Path] = {}
    waiting = [*_modules_of(PACKAGE, script, "")]
    waiting += _known(PACKAGE, (part for plugin in plugins for part in _with_parents(plugin)))
    while waiting:
        module, file = waiting.pop()
        if module not in found:
            found[module] = file
            waiting += _modules_of(PACKAGE, file, module if file.name == "__init__.py" else _parent(module))
    data = {named for file in found.values() for named in _data_named(PACKAGE, file)}
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


@cache
def _parsed(root: Path, file: Path) -> tuple[tuple[ast.Import | ast.ImportFrom, ...], frozenset[str]]:
    """A module's import statements, at any depth, and its strings; without what only type checkers read.

    Strings are read only where one may name a data file: to compile takes as long as to parse.
    """
    source = file.read_text(encoding="utf-8")
    tree = ast.parse(source, str(file))
    imports = tuple(node for node in _statements(tree) if isinstance(node, ast.Import | ast.ImportFrom))
    if not _data_names(root).search(source):
        return imports, frozenset()
    return imports, frozenset(_texts(compile(tree, str(file), "exec", dont_inherit=True, optimize=0)))


def _statements(tree: ast.Module) -> Iterator[ast.stmt]:
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        for name in _BODIES:
            for inner in getattr(node, name, ()):
                if isinstance(inner, ast.If) and _asks_for_type_checking(inner):
                    inner.body, inner.orelse = [ast.copy_location(ast.Pass(), inner)], []
                waiting.append(inner)
                yield inner


def _asks_for_type_checking(node: ast.If) -> bool:
    return isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


@cache
def _modules_of(root: Path, file: Path, package: str) -> tuple[tuple[str, Path], ...]:
    """Modules of the package named in any import statement, also those inside functions, with their files;
    `package` is that of the file."""
    return tuple(_known(root, _imports(root, file, package)))


def _known(root: Path, modules: Iterator[str]) -> Iterator[tuple[str, Path]]:
    for module in dict.fromkeys(modules):
        if file := _module_file(root, module):
            yield module, file


def _imports(root: Path, file: Path, package: str) -> Iterator[str]:
    for node in _parsed(root, file)[0]:
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


def _parent(module: str) -> str:
    return module.rpartition(".")[0]


@cache
def _module_file(root: Path, module: str) -> Path | None:
    first, *rest = module.split(".")
    if first != root.name:
        return None
    place = root.joinpath(*rest)
    candidates = [place / "__init__.py", place.with_suffix(".py")] if rest else [root / "__init__.py"]
    return next((file for file in candidates if file.is_file()), None)


@cache
def _data_named(root: Path, file: Path) -> tuple[Path, ...]:
    """Files beside the code that a string in it names, in full or by their folder."""
    data = _data(root)
    named = {text.rstrip("/") for text in _parsed(root, file)[1]}
    return tuple(found for name in named & data.keys() for found in data[name])


@cache
def _data(root: Path) -> dict[str, tuple[Path, ...]]:
    """Path within the package -> the data files there, of all that hold any."""
    found: dict[str, tuple[Path, ...]] = {}
    for file in root.rglob("*"):
        if file.suffix not in (".py", ".pyc") and file.is_file():
            for place in (file, *file.parents):
                if place == root:
                    break
                name = place.relative_to(root).as_posix()
                found[name] = (*found.get(name, ()), file)
    return found


@cache
def _data_names(root: Path) -> re.Pattern[str]:
    """Where source text may name data: as a string, or as the part of one before a slash or a field."""
    return re.compile(rf"[\"'}}](?:{'|'.join(map(re.escape, _data(root)))})[\"'/{{]")


def _texts(constant: object) -> Iterator[str]:
    """All strings in compiled code, at any depth."""
    if isinstance(constant, str):
        yield constant
    elif isinstance(constant, CodeType):
        for inner in constant.co_consts:
            yield from _texts(inner)
    elif isinstance(constant, tuple | frozenset):
        for inner in constant:
            yield from _texts(inner)
