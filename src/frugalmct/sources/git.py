"""Fetching one commit of a git repository: what a user gave is an address, never an option or a command."""

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from frugalmct.errors import FrugalError
from frugalmct.values import shown

# git takes `-x` for an option and runs what `ext::` names; ssh takes a host `-x` for an option.
_USER = r"(?:[A-Za-z0-9_.~%+][A-Za-z0-9_.~%+-]*(?::[^\s@/]*)?@)?"
_HOST = r"(?:[A-Za-z0-9][A-Za-z0-9_.-]*|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?"
_ADDRESS = re.compile(
    rf"(?:https|ssh)://{_USER}{_HOST}/.*"
    r"|file:///.*"
    r"|[A-Za-z0-9_.]+@[A-Za-z0-9][A-Za-z0-9_.-]*:[^:-].*"
)
_PATH = re.compile(r"[^-:][^:]*|[^-:/][^:/]*/.*|/.*")
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
PROTOCOLS = ("https", "ssh", "file")


def checked_address(url: object) -> str:
    """An https, ssh or file address as it is, the path of a folder in full; anything else is refused."""
    if isinstance(url, str) and url.isprintable() and "::" not in url:
        if _ADDRESS.fullmatch(url):
            return url
        if _PATH.fullmatch(url) and "://" not in url:
            # git is started in another folder.
            return str(Path(url).absolute())
    raise FrugalError(
        f"release_source.url is {shown(url)}; give an https://, ssh:// or file:// address, or the path of a "
        "folder."
    )


def clone(folder: Path, url: str, commit: str) -> None:
    """The files of one commit; they appear under `folder` whole or not at all."""
    address = checked_address(url)
    if not isinstance(commit, str) or not _COMMIT.fullmatch(commit):
        raise FrugalError(
            f"release_source.commit is {shown(commit)}; give the 40 digits of the commit's full name."
        )
    folder.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}."))
    try:
        _git(temporary, url, "init", "--quiet")
        # A connection that stands still is given up: with no network a run must end, and say so.
        patience = ("-c", "http.lowSpeedLimit=1000", "-c", "http.lowSpeedTime=60")
        _git(temporary, url, *patience, "fetch", "--quiet", "--depth", "1", "--", address, commit)
        # A link in the repository could lead to any file of this machine.
        _git(temporary, url, "-c", "core.symlinks=false", "checkout", "--quiet", "--detach", "FETCH_HEAD")
        got = _git(temporary, url, "rev-parse", "HEAD")
        if got != commit:
            raise FrugalError(f"{url} gave commit {got} instead of {commit}; correct release_source.commit.")
        temporary.chmod(0o755)
        temporary.replace(folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _git(folder: Path, url: str, *arguments: str) -> str:
    command = ["git", "-C", str(folder), *arguments]
    environment = os.environ | {
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C",
        "GIT_ALLOW_PROTOCOL": ":".join(PROTOCOLS),
    }
    remedy = (
        "with no network, copy the release from a machine that has one and name its folder: "
        "--config release_dir=FOLDER."
    )
    try:
        outcome = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    except OSError as error:
        raise FrugalError(
            f"The release cannot be fetched: git does not start ({error.strerror}); {remedy}"
        ) from None
    if outcome.returncode:
        said = (outcome.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise FrugalError(f"The release cannot be fetched from {url} ({said}); {remedy}")
    return outcome.stdout.strip()
