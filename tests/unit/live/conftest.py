"""Databases for the ledger's tests: a new SQLite file, and a PostgreSQL server that the tests start."""

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
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


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The URL of a server of our own, that listens on a socket in its own folder only."""
    pytest.importorskip("psycopg", reason="PostgreSQL tests need psycopg: pip install 'frugalmct[postgres]'")
    programs = _server_programs()
    if programs is None:
        pytest.skip("PostgreSQL tests need a server's programs: apt-get install postgresql")
    # Not pytest's own folder: another user may not enter it.
    folder = Path(tempfile.mkdtemp(prefix="frugalmct-postgres-"))
    user = _server_user()
    if user:
        shutil.chown(folder, user)
    folder.chmod(0o755)
    run = {"user": user, "cwd": folder, "capture_output": True, "text": True, "check": False}
    data = folder / "data"
    made = subprocess.run(
        [programs / "initdb", "-D", data, "-A", "trust", "-U", "tester", "--no-sync"], **run
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
        shutil.rmtree(folder, ignore_errors=True)


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
