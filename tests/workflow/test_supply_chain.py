"""The audit of locked packages: what it says of what pip-audit found, and of what it could not look up."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]


def audit_tool():
    spec = importlib.util.spec_from_file_location("audit", PROJECT / "tools" / "audit.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


GOOD = {"name": "numpy", "version": "2.4.6", "vulns": []}
BAD = {"name": "old", "version": "1.0", "vulns": [{"id": "PYSEC-1"}, {"id": "CVE-2"}]}
UNKNOWN = {"name": "gone", "skip_reason": "not found"}


@pytest.mark.parametrize(
    ("lock", "packages", "code", "words"),
    [
        ("requirements.lock", [GOOD], 0, "1 packages looked up, 0 with known vulnerabilities."),
        ("requirements.lock", [GOOD, BAD], 1, "old 1.0: PYSEC-1, CVE-2"),
        ("requirements.lock", [GOOD, UNKNOWN], 2, "Not looked up: gone."),
        ("requirements.lock", [UNKNOWN, UNKNOWN], 2, "nothing was audited"),
        ("envs/automl-requirements.txt", [GOOD, BAD], 0, "auto-sklearn's own environment alone"),
    ],
)
def test_what_the_audit_says(lock, packages, code, words):
    tool = audit_tool()
    found, lines = tool.verdict(lock, tool.summed_up(packages))
    assert found == code and words in "\n".join(lines)


def test_an_audit_that_could_not_be_made_does_not_pass():
    tool = audit_tool()
    assert tool.verdict("requirements.lock", None)[0] == 2
    assert {tool.LOCK, *tool.ISOLATED} == {
        "requirements.lock",
        "envs/automl-build.txt",
        "envs/automl-requirements.txt",
    }


@pytest.mark.slow
def test_without_a_network_make_audit_says_so_in_a_sentence(tmp_path):
    nowhere = "http://127.0.0.1:9/simple"
    environment = os.environ | {"PIP_INDEX_URL": nowhere, "PIP_CONFIG_FILE": os.devnull, "PIP_NO_INDEX": "1"}
    environment.pop("PIP_FIND_LINKS", None)
    done = subprocess.run(
        ["make", "--no-print-directory", "audit", f"TOOLS={tmp_path}/tools", f"PYTHON={sys.executable}"],
        cwd=PROJECT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode and done.stdout == (
        "Nothing was audited: pip-audit cannot be installed, which needs a network.\n"
    )
    assert "Traceback" not in done.stderr
