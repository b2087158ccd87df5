"""How a ledger's SQLite file is laid out: small pages for a new one, and any for one that exists."""

import sqlite3
from pathlib import Path

import pytest

from frugalmct.live.budget import Budget
from frugalmct.live.ledger import Ledger
from frugalmct.live.sqlite import LOG, PAGE_SIZE, sqlite_settings

BUDGET = Budget(total=10)


def page_size(file: Path) -> int:
    with sqlite3.connect(file) as connection:
        ((size,),) = connection.execute("PRAGMA page_size").fetchall()
    connection.close()
    return size


def spend_one(file: Path) -> int:
    with Ledger.open(f"sqlite:///{file}", BUDGET) as ledger:
        ledger.settle(ledger.reserve(1, "base", f"item {ledger.state().items}"))
        return ledger.state().spent_nano


def test_a_new_file_has_small_pages(tmp_path: Path) -> None:
    spend_one(tmp_path / "ledger.db")
    assert page_size(tmp_path / "ledger.db") == PAGE_SIZE


def test_a_file_of_other_pages_keeps_them_and_its_books(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "ledger.db"
    monkeypatch.setattr("frugalmct.live.sqlite.PAGE_SIZE", 4096)
    spend_one(file)
    monkeypatch.undo()
    assert spend_one(file) == 2 * 10**9
    assert page_size(file) == 4096


@pytest.mark.parametrize("size", [1024, 4096])
def test_the_log_is_as_long_whatever_the_pages(tmp_path: Path, size: int) -> None:
    link = sqlite3.connect(tmp_path / "ledger.db")
    link.execute(f"PRAGMA page_size={size}")
    link.execute("CREATE TABLE made (id INTEGER)")
    sqlite_settings(False, 1.0)(link, None)
    ((pages,),) = link.execute("PRAGMA wal_autocheckpoint").fetchall()
    link.close()
    assert pages * size == LOG
