"""The database under a ledger: one engine, transactions that wait for each other, faults as one sentence."""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from operator import itemgetter
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, Select, UpdateBase, create_engine, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError, NoSuchModuleError

from frugalmct.live import tables
from frugalmct.live.records import LedgerError
from frugalmct.live.sqlite import Writer, on_begin, sqlite_settings
from frugalmct.live.waiting import Waiting

Result = TypeVar("Result")
Statement = Select[Any] | UpdateBase

ATTEMPTS = 5
"""How often a transaction is tried when the connection to the server breaks."""

_POSTGRES = ("postgres", "postgresql")


class Store(Waiting):
    """Runs functions of a connection as transactions: `write` alone, in turn; `read` beside others."""

    def __init__(self, url: str, *, wait: float, durable: bool) -> None:
        super().__init__()
        self.url = _checked(url)
        self.name = self.url.render_as_string(hide_password=True)
        self._sqlite = self.url.get_backend_name() == "sqlite"
        self.in_one_statement = not self._sqlite
        """Whether `at_once` is sooner done: with SQLite several statements have no longer way to go."""
        self._wait = wait
        self._pid = os.getpid()
        self._engine = self._make_engine(durable)
        self._alone = self._engine.execution_options(isolation_level="AUTOCOMMIT")
        self._dialect = self._engine.dialect
        self._compiled: dict[int, tuple[str, Callable[[dict[str, Any]], Any], bool]] = {}
        self._idle: list[Writer] = []
        self._left_behind: list[Writer] = []
        self._reading = self._engine.execution_options(frugalmct_reading=True)

    def _make_engine(self, durable: bool) -> Engine:
        try:
            if self._sqlite:
                engine = create_engine(self.url, connect_args={"timeout": self._wait})
                event.listen(engine, "connect", sqlite_settings(durable, self._wait))
                event.listen(engine, "begin", on_begin)
                return engine
            wait = {"connect_timeout": max(1, int(self._wait))}
            engine = create_engine(self.url, isolation_level="READ COMMITTED", connect_args=wait)
            event.listen(engine, "connect", _postgres_settings(durable, self._wait))
            return engine
        except ModuleNotFoundError as error:
            raise LedgerError(
                f"The ledger {self.name} needs the Python package {error.name}; install it with "
                "pip install 'frugalmct[postgres]'."
            ) from None

    def write(self, work: Callable[[Connection, bool], Result]) -> Result:
        """`work(connection, again)` in one transaction, in turn with all other writers.

        When the connection breaks it is run again with `again` set: whether the first try was recorded is
        then unknown, so `work` must look.
        """
        return self._run(self._in_turn, work)

    def read(self, work: Callable[[Connection, bool], Result]) -> Result:
        return self._run(self._reading.begin, work)

    def _run(
        self,
        transaction: Callable[[], AbstractContextManager[Connection]],
        work: Callable[[Connection, bool], Result],
    ) -> Result:
        self._after_fork()
        for attempt in range(ATTEMPTS):
            try:
                with transaction() as connection:
                    return work(connection, attempt > 0)
            except DBAPIError as error:
                passing = error.connection_invalidated or _is_passing(error)
                if not passing or attempt == ATTEMPTS - 1:
                    raise LedgerError(self._sentence(error)) from None
            time.sleep(0.05 * 4**attempt)
        raise AssertionError("unreachable")

    @property
    def at_hand(self) -> bool:
        """Whether a transaction is done sooner here than in another thread, unless it must wait its turn."""
        return self._sqlite

    def _in_turn(self) -> AbstractContextManager[Any]:
        """A transaction that no other writer's overlaps."""
        if not self._sqlite:
            return self._with_lock()
        try:
            return self._idle.pop()
        except IndexError:  # at first, or other threads have them
            return Writer(self._engine, self._wait, self, self._idle)

    @contextmanager
    def _with_lock(self) -> Iterator[Connection]:
        with self._engine.begin() as connection:
            self.quick(connection, tables.LOCK, {})
            yield connection

    def at_once(self, statement: Statement, values: dict[str, Any]) -> Sequence[Any] | None:
        """A statement that is a transaction of its own; None when its outcome is not known."""
        self._after_fork()
        try:
            with self._alone.connect() as connection:
                return self.quick(connection, statement, values)
        except DBAPIError as error:
            if error.connection_invalidated or _is_passing(error):
                return None
            raise LedgerError(self._sentence(error)) from None

    def stand_alone(self, connection: Connection) -> None:
        """Keeps `at_once` away until the transaction ends."""
        if not self._sqlite:
            connection.execute(tables.STAND_ALONE)

    def _after_fork(self) -> None:
        """Connections must not be shared with the process this one was forked from."""
        if os.getpid() != self._pid:
            self._engine.dispose(close=False)
            self._left_behind += self._idle  # kept: to forget one would close it
            self._idle.clear()
            self._pid = os.getpid()

    def quick(self, connection: Any, statement: Statement, values: dict[str, Any]) -> Sequence[Any]:
        """Runs a statement of a write with values for all its parameters, far sooner than `execute`.

        The statement is compiled once and handed to the driver, for those few that every call needs.
        """
        text, arranged, answers = self._compiled.get(id(statement)) or self._compile(statement)
        if self._sqlite:
            return connection.quick(text, arranged(values), answers)
        link: Any = connection.connection.dbapi_connection
        try:
            cursor = link.execute(text, arranged(values))
            return cursor.fetchall() if answers else []
        except self._dialect.loaded_dbapi.Error as error:
            broken = self._dialect.is_disconnect(error, link, None)
            if broken:
                connection.invalidate(error)
            kind = self._dialect.loaded_dbapi.Error
            raise DBAPIError.instance(
                text, None, error, kind, connection_invalidated=broken, dialect=self._dialect
            ) from None

    def _compile(self, statement: Statement) -> tuple[str, Callable[[dict[str, Any]], Any], bool]:
        """The text, what its values are arranged by, and whether it answers with rows."""
        dialect: Any = type(self._dialect)  # each takes it; what they have in common does not say so
        compiled = statement.compile(dialect=dialect(paramstyle="qmark" if self._sqlite else "pyformat"))
        fixed = {name: value for name, value in compiled.params.items() if value is not None}
        names = compiled.positiontup if self._sqlite else None
        answers = bool(statement.is_select or compiled.effective_returning)
        self._compiled[id(statement)] = (str(compiled), _arranged(fixed, names), answers)
        return self._compiled[id(statement)]

    def create(self) -> None:
        """Makes the tables where they are missing; several processes may do so at once."""
        for last in (False, False, True):
            try:
                with self._engine.begin() as connection:
                    tables.TABLES.create_all(connection)
                return
            except IntegrityError as error:
                # PostgreSQL: two processes that make the same table at once.
                if last:
                    raise LedgerError(self._sentence(error)) from None
            except DBAPIError as error:
                if last or "already exists" not in str(error.orig):
                    raise LedgerError(self._sentence(error)) from None
            time.sleep(0.1)

    def close(self) -> None:
        while self._idle:
            self._idle.pop().close()
        self._engine.dispose()

    def _sentence(self, error: DBAPIError) -> str:
        """What went wrong, and what to do, for the faults that people meet."""
        said = " ".join(str(error.orig).split())
        for part, cause, remedy in _FAULTS:
            if part in said.lower():
                return f"The ledger {self.name} {cause}; nothing of this call was recorded; {remedy}."
        return f"The ledger {self.name} failed ({said[:300]}); nothing of this call was recorded."


def _arranged(fixed: dict[str, Any], names: Sequence[str] | None) -> Callable[[dict[str, Any]], Any]:
    """By name, or in the order of the names; with the values that a statement brings along."""
    if names is None:
        return lambda values: fixed | values
    in_order = itemgetter(*names)
    return (lambda values: in_order(fixed | values)) if fixed else in_order


def _is_passing(error: DBAPIError) -> bool:
    """Two transactions that waited for each other: PostgreSQL ends one, which may try again."""
    return "deadlock detected" in str(error.orig)


_FAULTS = (
    ("disk is full", "has no space left on its disk", "free some space and try again"),
    ("no space left", "has no space left on its disk", "free some space and try again"),
    (
        "disk i/o error",
        "could not write to its disk",
        "free some space or check the disk, then try again",
    ),
    ("database is locked", "was busy for too long", "try again, or give Ledger.open a longer `wait`"),
    ("lock timeout", "was busy for too long", "try again, or give Ledger.open a longer `wait`"),
    ("readonly database", "may not be written", "give this user the right to write the file and its folder"),
    ("unable to open database", "could not be opened", "check that its folder exists and may be written"),
    ("not a database", "is not a ledger", "give the URL of a ledger or of a new file"),
    ("connection refused", "could not be reached", "check that the server runs and the URL is right"),
    ("authentication failed", "refused user or password", "check both in the URL"),
    ("does not exist", "does not exist", "create that database first"),
)


def _checked(url: str) -> URL:
    allowed = "give sqlite:///ledger.db, or postgresql://user@host/database"
    try:
        parsed = make_url(url)
        backend = parsed.get_backend_name()
    except (ArgumentError, NoSuchModuleError, AttributeError):
        raise LedgerError(f"The ledger's URL is {url!r}; {allowed}.") from None
    if backend in _POSTGRES:
        if "+" not in parsed.drivername:
            parsed = parsed.set(drivername="postgresql+psycopg")
    elif backend != "sqlite":
        raise LedgerError(f"The ledger's URL is of kind {backend}; {allowed}.")
    elif parsed.database in (None, "", ":memory:"):
        raise LedgerError(f"The ledger's URL names no file; {allowed}.")
    return parsed


def _postgres_settings(durable: bool, wait: float) -> Callable[[Any, object], None]:
    def on_connect(connection: Any, _record: object) -> None:
        connection.autocommit = True
        connection.execute(f"SET lock_timeout TO {max(1, int(1000 * wait))}")
        # Writers take turns: one that waits for the disk makes all others wait for it too.
        if not durable:
            connection.execute("SET synchronous_commit TO off")
        connection.autocommit = False

    return on_connect
