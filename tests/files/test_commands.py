"""What a user gives is never taken for an option or a command."""

import re
from pathlib import Path

import pytest
from helpers import ROOT
from released import committed, git

from frugalmct.errors import FrugalError
from frugalmct.sources.git import checked_address
from frugalmct.sources.release import clone

COMMIT = "0" * 40


@pytest.fixture
def remote(tmp_path) -> dict[str, str]:
    folder = tmp_path / "remote"
    folder.mkdir()
    (folder / "data.txt").write_text("data\n", encoding="utf-8")
    (folder / "link.txt").symlink_to("/etc/hostname")
    return committed(folder)


def hostile(trace: Path) -> list[str]:
    return [
        f"--upload-pack=touch {trace};",
        f"-u touch {trace};",
        f"--output={trace}",
        f"ext::sh -c 'touch {trace}'",
        f"ext::touch% {trace}",
        f"fd::17/{trace}",
        f"ssh://-oProxyCommand=touch {trace}/x",
        f"ssh://user@-oProxyCommand=touch${{IFS}}{trace}/x",
        f"-oProxyCommand=touch {trace}:x",
        f"user@-oProxyCommand=touch {trace}:x",
        f"`touch {trace}`:x",
        f"file://x\n--upload-pack=touch {trace}",
        "http://example.org/x",
        "git://example.org/x",
        "ftp://example.org/x",
        "https://",
        "https:///x",
        "example.org:x",
        "",
    ]


def test_hostile_addresses_are_refused_and_nothing_is_run(tmp_path):
    trace = tmp_path / "trace"
    for url in hostile(trace):
        # What may still be a path is looked for as one, in full.
        with pytest.raises(FrugalError, match=r"release_source\.url is .*; give an https://|exists"):
            clone(tmp_path / "target", url, COMMIT)
    assert not trace.exists() and not (tmp_path / "target").exists()


@pytest.mark.parametrize("url", [None, 3, ["https://example.org/x"]])
def test_what_is_no_text_is_no_address(url):
    with pytest.raises(FrugalError, match=r"release_source\.url is"):
        checked_address(url)


@pytest.mark.parametrize(
    "url",
    [
        "https://github.com/lchen001/FrugalMCT",
        "https://user:secret@example.org:8443/a/b.git",
        "ssh://git@example.org:22/a.git",
        "git@github.com:lchen001/FrugalMCT.git",
        "file:///some where/release",
    ],
)
def test_addresses_are_taken_as_they_are(url):
    assert checked_address(url) == url


def test_a_path_is_taken_from_where_the_user_is(remote, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for number, path in enumerate(("remote", "./remote", str(tmp_path / "remote"))):
        clone(tmp_path / f"target{number}", path, remote["commit"])
        assert (tmp_path / f"target{number}" / "data.txt").read_text(encoding="utf-8") == "data\n"


@pytest.mark.parametrize(
    "commit", ["", "HEAD", "-x", "--upload-pack=touch x", "0" * 39, "0" * 40 + "\n", None, 7]
)
def test_a_commit_is_its_full_name(remote, tmp_path, commit):
    with pytest.raises(FrugalError, match=r"release_source\.commit is .*; give the 40 digits"):
        clone(tmp_path / "target", remote["url"], commit)


def test_links_in_a_release_lead_nowhere(remote, tmp_path):
    clone(tmp_path / "target", remote["url"], remote["commit"])
    link = tmp_path / "target" / "link.txt"
    assert not link.is_symlink() and link.read_text(encoding="utf-8") == "/etc/hostname"
    assert git(tmp_path / "target", "rev-parse", "HEAD") == remote["commit"]


def test_programs_are_started_only_where_this_was_thought_of():
    """A new place that starts a program must be looked at: is what a user gave behind `--`, or checked?"""
    starts = re.compile(
        r"subprocess\.(run|Popen|call|check_\w+)|os\.(system|popen|exec\w+|spawn\w+)|shell=True"
    )
    found = {
        str(file.relative_to(ROOT))
        for folder in ("src", "tools")
        for file in (ROOT / folder).rglob("*.py")
        if starts.search(file.read_text(encoding="utf-8"))
    }
    known = {
        "src/frugalmct/sources/git.py",  # the address and the commit are checked, and come after `--`
        "src/frugalmct/predict/auto_sklearn.py",  # an interpreter by its name, with our own script
        "src/frugalmct/paper/jobs/forecast.py",  # Snakemake's own arguments, which its user typed for it
        "src/frugalmct/cli/report.py",  # our own program: what a user gave follows `=` or `--`
        "src/frugalmct/paper/jobs/own_report.py",  # Snakemake, with folders of our own naming as values
        "src/frugalmct/paper/report/provenance.py",  # the project's own folder, as the value of -C
        "tools/audit.py",  # pip-audit, with the locks' own names
    }
    assert found <= known, f"look at {sorted(found - known)}, then add it to this list with the reason"
