"""SQLite under a ledger: how its file is set up, and a connection that writes in turn with all others'."""

import random
import sqlite3
import time
from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError, StatementError

from frugalmct.live.records import WouldWait
from frugalmct.live.waiting import Waiting

PAUSES = (0.001, 0.002)
"""Seconds between tries while another one writes, at first and at most. A step takes a tenth of a millisecond
or less, but its process may be waiting for a core: to ask more often takes the core from it. SQLite's own
waiting goes on in steps of up to a hundred milliseconds."""

PAGE_SIZE = 1024
"""Of a new file, in bytes. A step changes a few rows in each of four pages, and writes those pages whole."""

LOG = 16_384_000
"""Bytes of the write-ahead log before they are moved into the file, which waits for the disk."""


class Writer:
    """A connection that stays open, whose transactions are begun and ended at the driver: `with writer`.

    To lend and return one for each step would take longer than the step. It gives itself back to `idle`.
    """

    def __init__(self, engine: Engine, wait: float, steps: Waiting, idle: list["Writer"]) -> None:
        self._seconds, self._steps, self._idle = wait, steps, idle
        self._dialect = engine.dialect
        self._connection = engine.connect().execution_options(frugalmct_begun=True)
        self._connection.detach()  # it does not count among those that the engine lends
        link: Any = self._connection.connection.dbapi_connection
        self._link: sqlite3.Connection = link
        self._link.execute("PRAGMA busy_timeout=0").close()
        self._cursor = self._link.cursor()

    def __enter__(self) -> "Writer":
        try:
            self._begin()
        except BaseException as error:
            self._idle.append(self)
            raise self._told(error) from None
        self._steps.begun()
        return self

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        try:
            if error is None:
                self._commit()
            else:
                self._roll_back()
        finally:
            self._idle.append(self)

    def quick(self, text: str, values: Sequence[Any], answers: bool) -> Sequence[Any]:
        try:
            found = self._cursor.execute(text, values)
            return found.fetchall() if answers else ()
        except sqlite3.Error as error:
            raise self._told(error) from None

    def execute(self, *statement: Any) -> Any:
        """Any statement, by SQLAlchemy."""
        return self._connection.execute(*statement)

    def close(self) -> None:
        self._connection.close()

    def _begin(self) -> None:
        """IMMEDIATE: a writer takes its turn before it reads, so what it read still holds when it writes."""
        pause, until = PAUSES[0], 0.0
        while True:
            try:
                self._cursor.execute("BEGIN IMMEDIATE")
                return
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                    raise
                if self._steps.must_not_wait:
                    raise WouldWait from None
                now = time.monotonic()
                until = until or now + self._seconds
                if now >= until:
                    raise
            time.sleep(pause * random.uniform(0.5, 1.0))  # at random, so that two do not go on colliding
            pause = min(1.5 * pause, PAUSES[1])

    def _commit(self) -> None:
        try:
            # Statements that SQLAlchemy ran itself have begun a transaction in its own books.
            if self._connection.in_transaction():
                self._connection.commit()
            else:
                self._cursor.execute("COMMIT")
        except BaseException as error:
            self._roll_back()
            raise self._told(error) from None

    def _roll_back(self) -> None:
        if self._connection.in_transaction():
            self._connection.rollback()
        else:
            self._link.rollback()

    def _told(self, error: BaseException) -> BaseException:
        return wrapped(error, self._dialect) if isinstance(error, sqlite3.Error) else error


def wrapped(error: sqlite3.Error, dialect: Any) -> StatementError:
    """A fault of the driver as SQLAlchemy would raise it."""
    return DBAPIError.instance("a step of the ledger", None, error, sqlite3.Error, dialect=dialect)


def sqlite_settings(durable: bool, wait: float) -> Callable[[sqlite3.Connection, object], None]:
    def on_connect(connection: sqlite3.Connection, _record: object) -> None:
        connection.isolation_level = None  # we begin transactions ourselves
        connection.execute(f"PRAGMA page_size={PAGE_SIZE}").close()  # a file that exists keeps its own
        _write_ahead(connection, wait)
        # WAL with NORMAL survives the death of any process; FULL also survives a power cut.
        connection.execute(f"PRAGMA synchronous={'FULL' if durable else 'NORMAL'}").close()
        ((page_size,),) = connection.execute("PRAGMA page_size").fetchall()
        connection.execute(f"PRAGMA wal_autocheckpoint={LOG // page_size}").close()

    return on_connect


def _write_ahead(connection: sqlite3.Connection, wait: float) -> None:
    """WAL mode, which readers of a new file may all want to set at once.

    Two that hold a read lock cannot both get the write lock, so SQLite turns one away at once, whatever its
    timeout: it has to come again.
    """
    until = time.monotonic() + wait
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL").close()
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > until:
                raise
        time.sleep(0.005)


def on_begin(connection: Connection) -> None:
    """Begins what SQLAlchemy is about to do in a transaction; a writer's own are begun already."""
    link: Any = connection.connection.dbapi_connection  # SQLite's own, which executes by itself
    options = connection.get_execution_options()
    if options.get("frugalmct_begun"):
        return
    try:
        link.execute("BEGIN" if options.get("frugalmct_reading") else "BEGIN IMMEDIATE").close()
    except sqlite3.Error as error:
        raise wrapped(error, connection.dialect) from None
