"""What a job loads before it begins: a library that only some jobs use is loaded by those, when they do."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = sorted((Path(__file__).parents[2] / "workflow" / "scripts").glob("*.py"))
LATER = {
    "sklearn",
    "sqlalchemy",
    "fastapi",
    "pulp",
    "highspy",
    "flaml",
    "lightgbm",
    "snakemake",
    "matplotlib",
}
NO_TABLES = {
    "combine_answers",
    "estimate_accuracy",
    "fetch_release",
    "make_market",
    "read_answers",
    "split_market",
}


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_job_loads_no_more_than_it_needs_to_begin(script):
    statements = [
        node for node in ast.parse(script.read_text()).body if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    assert any("frugalmct" in ast.unparse(node) for node in statements)
    code = "\n".join([*map(ast.unparse, statements), "import sys", "print(*sys.modules)"])
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    unwanted = LATER | ({"pandas"} if script.stem in NO_TABLES else set())
    assert not unwanted & set(done.stdout.split())


def test_what_exhibits_are_is_known_without_what_draws_them():
    code = (
        "import sys; from frugalmct.paper.exhibits.registry import all_exhibits; all_exhibits();"
        "print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"matplotlib", "scipy.special", "frugalmct.percall"} & set(done.stdout.split())
