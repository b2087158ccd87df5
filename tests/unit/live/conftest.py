"""Databases for the ledger's tests: a new SQLite file, a PostgreSQL server of our own, small disks."""

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import pytest


def _server_programs() -> Path | None:
    """The folder of initdb: on the path, or where Debian puts it."""
    if found := shutil.which("initdb"):
        return Path(found).resolve().parent
    places = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return places[-1].parent if places else None


def _server_user() -> str | None:
    """PostgreSQL refuses to run as root: whom to run it as instead; None for whoever runs the tests."""
    if os.getuid() != 0:
        return None
    known = {entry.pw_name for entry in pwd.getpwall()}
    return next(name for name in ("postgres", "nobody") if name in known)


@contextmanager
def _server_folder() -> Iterator[tuple[Path, str | None]]:
    """An empty folder that the server's user owns, and who that is."""
    # Not pytest's own folder: another user may not enter it.
    folder = Path(tempfile.mkdtemp(prefix="frugalmct-postgres-"))
    user = _server_user()
    if user:
        shutil.chown(folder, user)
    folder.chmod(0o755)
    try:
        yield folder, user
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _server(folder: Path, user: str | None, data: Path, *layout: str) -> Iterator[str]:
    """The URL of a server of our own, that listens on a socket in its own folder only."""
    pytest.importorskip("psycopg", reason="PostgreSQL tests need psycopg: pip install 'frugalmct[postgres]'")
    programs = _server_programs()
    if programs is None:
        pytest.skip("PostgreSQL tests need a server's programs: apt-get install postgresql")
    run = {"user": user, "cwd": folder, "capture_output": True, "text": True, "check": False}
    made = subprocess.run(
        [programs / "initdb", "-D", data, "-A", "trust", "-U", "tester", "--no-sync", *layout], **run
    )
    if made.returncode:
        pytest.skip(f"PostgreSQL could not be set up here: {made.stderr.strip()[-200:]}")
    options = (
        f"-c listen_addresses='' -c unix_socket_directories='{folder}' -c max_connections=50 -c fsync=off"
    )
    control = [programs / "pg_ctl", "-D", data, "-w", "-l", folder / "log"]
    started = subprocess.run([*control, "-o", options, "start"], **run)
    try:
        if started.returncode:
            pytest.skip(f"PostgreSQL does not start here: {started.stdout.strip()[-200:]}")
        yield f"postgresql+psycopg://tester@/postgres?host={quote(str(folder))}"
    finally:
        subprocess.run([*control, "-m", "immediate", "stop"], **run)


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    with _server_folder() as (folder, user), _server(folder, user, folder / "data") as url:
        yield url


class SmallDisk:
    """A file system in memory, with a database in it that is to run out of space."""

    def __init__(self, place: Path) -> None:
        self.place, self.url = place, f"sqlite:///{place}/ledger.db"
        self._filler = place / "filler"

    def space(self) -> int:
        """Bytes."""
        found = os.statvfs(self.place)
        return found.f_bavail * found.f_frsize

    def leave(self, space: int) -> None:
        with self._filler.open("wb") as handle:
            os.posix_fallocate(handle.fileno(), 0, self.space() - space)

    def free(self) -> None:
        self._filler.unlink()
        subprocess.run(["mount", "-o", "remount,size=1g", self.place], check=True)


@contextmanager
def _mounted(place: Path) -> Iterator[SmallDisk]:
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=100m", "tmpfs", place]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("a small disk can only be mounted by root")
    try:
        yield SmallDisk(place)
    finally:
        subprocess.run(["umount", place], check=True)


@pytest.fixture(
    params=[
        "sqlite",
        pytest.param("postgresql", marks=[pytest.mark.slow, pytest.mark.xdist_group("postgresql")]),
    ],
)
def small_disk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SmallDisk]:
    """With a database of each kind. PostgreSQL's log of changes lies elsewhere: the server needs it."""
    if request.param == "sqlite":
        with _mounted(tmp_path / "disk") as disk:
            yield disk
        return
    with _server_folder() as (folder, user), _mounted(folder / "disk") as disk:
        if user:
            shutil.chown(disk.place, user)
        with _server(folder, user, disk.place / "data", f"--waldir={folder / 'changes'}") as url:
            disk.url = url
            yield disk


# One worker of pytest-xdist runs all that needs the server: it is then started once.
@pytest.fixture(
    params=["sqlite", pytest.param("postgresql", marks=pytest.mark.xdist_group("postgresql"))],
)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database with nothing in it, of both kinds in turn."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/ledger.db"
    from live_databases import new_schema

    return new_schema(request.getfixturevalue("postgres"))
