"""Rules list the package files behind their scripts; the list must hold what a run really uses."""

import subprocess
import sys
from pathlib import Path

import pytest

import frugalmct
from frugalmct.paper.jobs.code import PACKAGE, code_files
from frugalmct.sources import SOURCES

PROJECT = Path(__file__).parents[2]
SCRIPTS = PROJECT / "workflow" / "scripts"

# Runs a script's imports, and those of plug-ins, and prints every file of the package that was touched.
PROBE = """
import ast, sys
from pathlib import Path
package, script, *plugins = sys.argv[1:]
opened = set()
def hook(event, details):
    if event == "open" and isinstance(details[0], str) and details[0].startswith(package):
        opened.add(details[0])
sys.addaudithook(hook)
tree = ast.parse(Path(script).read_text())
imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
exec(compile(ast.Module(imports, []), script, "exec"))
for plugin in plugins:
    __import__(plugin)
from_package = {m.__file__ for n, m in list(sys.modules.items()) if n.split(".")[0] == "frugalmct"}
if "frugalmct.paper.printed" in sys.modules:
    sys.modules["frugalmct.paper.printed"].printed_of("COCO")
data = {file for file in opened if not file.endswith((".py", ".pyc")) and "__pycache__" not in file}
print(*sorted(from_package | data), sep="\\n")
"""


def used(script: Path, *plugins: str) -> set[Path]:
    command = [sys.executable, "-c", PROBE, str(PACKAGE), str(script), *plugins]
    outcome = subprocess.run(command, capture_output=True, text=True, check=True)
    return {Path(line) for line in outcome.stdout.splitlines()}


def names(files: object) -> set[str]:
    return {str(file.relative_to(PACKAGE)) for file in files}


@pytest.mark.parametrize("script", sorted(SCRIPTS.glob("*.py")), ids=lambda script: script.stem)
def test_the_list_covers_what_a_script_imports(script):
    assert names(used(script)) <= names(code_files(script))


@pytest.mark.parametrize("kind", SOURCES.names())
def test_the_list_covers_the_source_of_a_market(kind):
    (plugin,) = SOURCES.modules(kind)
    assert SOURCES.load(kind).__module__ == plugin
    listed = names(code_files(SCRIPTS / "read_answers.py", plugin))
    assert names(used(SCRIPTS / "read_answers.py", plugin)) <= listed
    assert f"sources/{kind}.py" in listed
    assert not {f"sources/{other}.py" for other in SOURCES.names() if other != kind} & listed


def test_the_list_is_no_longer_than_needed():
    split = names(code_files(SCRIPTS / "split_market.py"))
    assert {"__init__.py", "market/labels.py", "seeds.py", "files.py", "paper/jobs/log.py"} <= split
    assert (
        not {
            "combine/combiners.py",
            "paper/tables.py",
            "paper/config/__init__.py",
            "sources/jsonl.py",
            "paper/paper.yaml",
        }
        & split
    )


def test_data_files_are_listed_with_the_module_that_names_them():
    assert "paper/paper.yaml" in names(
        code_files(SCRIPTS / "make_exhibits.py", "frugalmct.paper.exhibits.service_prices")
    )


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("import frugalmct.sources", {"__init__.py", "sources/__init__.py"}),
        ("from frugalmct import errors", {"__init__.py", "errors.py"}),
        ("def later():\n    from frugalmct.registry import Registry", {"registry.py", "errors.py"}),
        ("import numpy, os.path\nfrom . import x", set()),
        ("name = 'frugalmct.errors'", set()),
    ],
)
def test_ways_to_import(tmp_path, statement, expected):
    (tmp_path / "script.py").write_text(statement, encoding="utf-8")
    listed = names(code_files(tmp_path / "script.py"))
    assert expected <= listed
    assert expected or not listed


def test_relative_imports_are_followed(tmp_path, monkeypatch):
    package = tmp_path / "frugalmct"
    (package / "deep" / "er").mkdir(parents=True)
    for file, text in {
        "__init__.py": "",
        "deep/__init__.py": "from . import one",
        "deep/one.py": "from .er import two",
        "deep/er/__init__.py": "",
        "deep/er/two.py": "from ...top import x\nfrom ..one import y",
        "top.py": "PATH = f'reference/{1}.txt'",
        "reference/1.txt": "",
        "unused.py": "",
    }.items():
        (package / file).parent.mkdir(exist_ok=True)
        (package / file).write_text(text, encoding="utf-8")
    (tmp_path / "script.py").write_text("import frugalmct.deep", encoding="utf-8")
    monkeypatch.setattr("frugalmct.paper.jobs.code.PACKAGE", package)
    listed = {str(file.relative_to(package)) for file in code_files(tmp_path / "script.py")}
    assert listed == {
        "__init__.py", "deep/__init__.py", "deep/one.py", "deep/er/__init__.py", "deep/er/two.py", "top.py",
        "reference/1.txt",
    }  # fmt: skip


def test_the_package_is_the_one_installed():
    assert Path(frugalmct.__file__).parent == PACKAGE
