"""Reading a ledger: spent, reserved and left, by service and by day; and notes that processes share."""

import csv
import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, TextIO

from frugalmct.errors import FrugalError
from frugalmct.live.budget import Budget, Period
from frugalmct.live.money import from_nano
from frugalmct.live.records import NOT_BEGUN, State

PAGE = 5_000
MONEY = ("amount", "cost", "spent", "reserved")
COUNTS = ("calls", "settled", "released", "written_off")
FORMS = ("jsonl", "csv")


class Books:
    """The part of a ledger that only looks."""

    def __init__(
        self, store: Any, tables: Any, budget: Budget, time_limit: float, clock: Callable[[], float]
    ) -> None:
        self._store, self._sql = store, tables
        self.budget = budget
        self.time_limit = time_limit
        self._tidied = -math.inf
        self._clock = clock
        self._today: tuple[int, Budget, str] = (-1, budget, "")
        """A second, whose budget it is, and the day that it lies in."""
        self._budget_text = ""

    def _learn(self, text: str) -> Budget:
        """The budget on the books, which another process may have changed."""
        if text != self._budget_text:
            self.budget, self._budget_text = Budget.from_dict(json.loads(text)), text
        return self.budget

    def _read(self, work: Callable[[Any, bool], Any]) -> Any:
        return self._store.read(work)

    def state(self) -> State:
        """What is spent, reserved and left now. Before the budget's start everything is 0."""
        now = self._clock()

        def work(connection: Any, _: bool) -> State:
            latest = connection.execute(self._sql.LATEST).one_or_none()
            ended = latest is None or (latest.end is not None and now >= latest.end)
            spent, items, text = connection.execute(self._sql.ALL_PERIODS).one()
            budget = self._learn(text)
            period = budget.period(now) if ended else None
            if period is not None:  # its row is made by the first reservation
                row = period_row(period)
                start, end = row["start"], row["end"]
                money, own = row["money"], (0, 0, 0)
                before = None if latest is None else latest.item_count
            elif not ended:
                start, end, money = latest.start, latest.end, latest.money
                own = (latest.spent, latest.reserved, latest.item_count)
                earlier = connection.execute(self._sql.BEFORE, {"start": start}).one_or_none()
                before = None if earlier is None else earlier.item_count
            else:
                return replace(NOT_BEGUN, all_spent_nano=int(spent), all_items=int(items))
            end = math.inf if end is None else end
            behind = max(start - now, 0.0)
            return State(start, end, money, *own, before, int(spent), int(items), behind)

        return self._read(work)

    def by_service(self) -> list[dict[str, Any]]:
        """One row per service: calls, spent, reserved, and how many were settled, released, written off."""
        return self._totals(self._sql.BY_SERVICE)

    def by_day(self) -> list[dict[str, Any]]:
        """One row per calendar day of the reservations, in the budget's time zone."""
        return self._totals(self._sql.BY_DAY)

    def _totals(self, statement: Any) -> list[dict[str, Any]]:
        rows = self._read(lambda connection, _: connection.execute(statement).mappings().all())
        return [plain(row) for row in rows]

    def calls(self, ticket: str) -> list[dict[str, Any]]:
        """What the ledger has of one ticket, oldest first."""
        rows = self._read(
            lambda connection, _: connection.execute(self._sql.OF_TICKET, {"ticket": ticket}).mappings().all()
        )
        return [plain(row) for row in rows]

    def rows(self) -> Iterator[dict[str, Any]]:
        """Every call, oldest first; read page by page, so that writers need not wait."""
        after = ""
        while page := self._page(after):
            yield from map(plain, page)
            after = page[-1]["id"]

    def _page(self, after: str) -> list[Mapping[str, Any]]:
        asked = {"after": after, "rows": PAGE}
        return self._read(lambda connection, _: connection.execute(self._sql.PAGE, asked).mappings().all())

    def export(self, handle: TextIO, form: str = "jsonl") -> int:
        """Writes every call to an open text file, as JSON Lines or CSV; returns how many."""
        if form not in FORMS:
            raise FrugalError(f"Ledger.export: form is {form!r}; give {' or '.join(FORMS)}.")
        columns = [column.name for column in self._sql.CALLS.columns]
        table = csv.DictWriter(handle, columns, lineterminator="\n")
        if form == "csv":
            table.writeheader()
        count = 0
        for row in self.rows():
            count += 1
            if form == "csv":
                table.writerow(row)
            else:
                handle.write(json.dumps(row, ensure_ascii=False) + "\n")
        return count

    def recall(self, key: str) -> str | None:
        """The note under that key; None when there is none."""
        return self._read(
            lambda connection, _: connection.execute(self._sql.READ_NOTE, {"key": key}).scalar_one_or_none()
        )

    def notes(self, prefix: str) -> dict[str, str]:
        """Those whose keys begin like that."""
        rows = self._read(
            lambda connection, _: connection.execute(self._sql.NOTES_OF, {"prefix": prefix}).all()
        )
        return {row.key: row.value for row in rows}

    def note(self, key: str, change: Callable[[str | None], str]) -> str:
        """Replaces a note by `change(note)` in one transaction, so that no process's addition is lost.

        `change` may run twice when a connection breaks; it must only compute.
        """

        def work(connection: Any, _: bool) -> str:
            old = connection.execute(self._sql.READ_NOTE, {"key": key}).scalar_one_or_none()
            new = change(old)
            if old is None:
                connection.execute(self._sql.ADD_NOTE, {"key": key, "value": new})
            else:
                connection.execute(self._sql.CHANGE_NOTE, {"which": key, "new": new})
            return new

        return self._store.write(work)


def period_row(period: Period) -> dict[str, Any]:
    """A period that nothing was spent in yet."""
    end = None if math.isinf(period.end) else period.end
    totals = {"spent": 0, "reserved": 0, "item_count": 0}
    return {"start": period.start, "end": end, "money": period.nano} | totals


def plain(row: Mapping[str, Any]) -> dict[str, Any]:
    """Money in the unit, counts as whole numbers: PostgreSQL sums as decimals."""
    values = dict(row)
    for name in values.keys() & set(MONEY):
        values[name] = None if values[name] is None else from_nano(int(values[name]))
    for name in values.keys() & set(COUNTS):
        values[name] = int(values[name])
    return values
