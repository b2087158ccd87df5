"""The house as docs/architecture.md draws it: layers that only look down, and what a public name loads."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import frugalmct

PROJECT = Path(__file__).parents[2]
PACKAGE = PROJECT / "src" / "frugalmct"
PAGE = (PROJECT / "docs" / "architecture.md").read_text(encoding="utf-8")
# Modules that only start others or name what there is.
DOORS = {"__init__", "__main__", "paper.__init__", "paper.__main__"}


def module_name(file: Path) -> str:
    parts = file.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(file): file for file in PACKAGE.rglob("*.py")}


def executed(file: Path) -> Iterator[ast.AST]:
    """All that may run, functions included, but nothing that only type checkers read."""
    waiting: list[ast.AST] = [ast.parse(file.read_text(encoding="utf-8"))]
    while waiting:
        node = waiting.pop()
        if not (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"):
            yield node
            waiting += ast.iter_child_nodes(node)


def imported(file: Path) -> set[str]:
    found = set()
    for node in executed(file):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            below = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= (below & MODULES.keys()) | ({node.module} if below - MODULES.keys() else set())
    return found & MODULES.keys()


GRAPH = {name: imported(file) - {name} for name, file in MODULES.items()}


def room(module: str) -> str:
    """`market` of frugalmct.market.labels, `paper.stages` of frugalmct.paper.stages.select."""
    _, *parts = module.split(".")
    if not parts:
        return "__init__"
    return ".".join(parts[:2]) if parts[0] == "paper" and parts[1:] else ".".join(parts[:1])


def drawn_layers() -> dict[str, int]:
    """Room -> its layer, the library's first."""
    library, reproduction = re.findall(r"`src/frugalmct/(?:paper/)?`:\n\n```text\n(.*?)```", PAGE, re.DOTALL)
    lines = [line.split() for line in library.strip().splitlines()]
    lines += [[f"paper.{name}" for name in line.split()] for line in reproduction.strip().splitlines()]
    names = [name for line in lines for name in line]
    assert len(names) == len(set(names)), "a room is drawn twice"
    return {name: layer for layer, line in enumerate(lines) for name in line}


def test_every_room_is_drawn():
    rooms = {room(module) for module in MODULES} - DOORS - {"paper"}
    assert rooms == drawn_layers().keys()


@pytest.mark.parametrize("module", sorted(GRAPH))
def test_imports_go_to_earlier_layers(module):
    layers = drawn_layers() | {"__init__": -1} | dict.fromkeys(DOORS - {"__init__"}, 100)
    layers |= {"paper": -1, "__main__": 100}
    for other in GRAPH[module]:
        if room(other) != room(module):
            assert layers[room(other)] < layers[room(module)], f"{module} imports {other}"


def test_the_library_never_imports_the_reproduction():
    library = {name: others for name, others in GRAPH.items() if not name.startswith("frugalmct.paper")}
    assert not {
        other for others in library.values() for other in others if other.startswith("frugalmct.paper")
    }


def test_there_is_no_cycle():
    TopologicalSorter(GRAPH).prepare()


LIBRARY_PACKAGES = {"numpy", "scipy"}
HEAVY = ("sklearn", "pandas", "matplotlib", "yaml", "jsonschema", "pulp", "highspy", "scipy.optimize")
LOADED = {
    "FrugalError": set(),
    "Problem": {"numpy"},
    "solve": {"numpy"},
    "dual_price": {"numpy"},
    "frontier": {"numpy"},
    "OnlineSelector": {"numpy"},
}


def loaded_by(statement: str) -> set[str]:
    code = f"{statement}\nimport sys\nprint(*sys.modules)"
    return set(subprocess.check_output([sys.executable, "-c", code], text=True).split())


@pytest.mark.parametrize("name", frugalmct.__all__)
def test_what_a_public_name_loads(name):
    assert getattr(frugalmct, name) is not None and name in dir(frugalmct)
    modules = loaded_by(f"from frugalmct import {name}")
    assert not modules & set(HEAVY)
    assert not any(module.startswith("frugalmct.paper") for module in modules)
    allowed = LOADED.get(name, LIBRARY_PACKAGES)
    assert {package for package in LIBRARY_PACKAGES if package in modules} <= allowed


def test_the_package_alone_loads_nothing():
    assert {name for name in loaded_by("import frugalmct") if name.startswith(("frugalmct", "numpy"))} == {
        "frugalmct"
    }
    with pytest.raises(AttributeError, match="no attribute 'Oracle'"):
        _ = frugalmct.Oracle


def test_modules_and_functions_are_of_a_size_to_be_read():
    for name, file in MODULES.items():
        text = file.read_text(encoding="utf-8")
        assert len(text.splitlines()) <= 350, name
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                assert node.end_lineno - node.lineno < 40, f"{name}.{node.name}"
