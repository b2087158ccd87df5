"""Tidying a ledger: what processes that died left behind, another budget, a clock that was put right."""

import json
import logging
from collections import Counter
from typing import Any

from frugalmct.live.books import Books, period_row
from frugalmct.live.budget import Budget
from frugalmct.live.records import TIDY_EVERY, LedgerError

LOG = logging.getLogger("frugalmct.live")

SUMS = ("spent", "reserved", "item_count")
"""A period's running totals."""


class Upkeep(Books):
    """The part of a ledger that is needed now and then."""

    def write_off(self, older_than: float | None = None) -> int:
        """Books reservations open for longer than the time limit as spent; returns how many.

        It frees no money; but nobody waits any longer for money that does not come back. Done when a ledger
        is opened, and when money is refused.
        """
        now = self._tidied = self._clock()
        before = now - (self.time_limit if older_than is None else older_than)

        def work(connection: Any, _: bool) -> int:
            closed = connection.execute(self._sql.WRITE_OFF, {"before": before, "at": now}).all()
            sums: Counter[float] = Counter()
            for row in closed:
                sums[row.period] += row.amount
            for period, amount in sums.items():
                moved = {"period": period, "no_longer_reserved": amount, "newly_spent": amount}
                connection.execute(self._sql.MOVE, moved)
            return len(closed)

        return self._store.write(work)

    def _tidy(self) -> None:
        """For whoever was refused money: at most once a minute. Their own step was done, and stands."""
        if 0 <= self._clock() - self._tidied < TIDY_EVERY:
            return
        try:
            self.write_off()
        except LedgerError as error:
            LOG.warning("Old reservations could not be written off: %s", error)

    def change_budget(self, budget: Budget) -> None:
        """Gives the ledger another budget, for all processes; what the new period has spent counts.

        That is what was reserved since it began, whichever period it was reserved in. One that begins later
        leaves the period of now as it is until then.
        """
        now, text = self._clock(), json.dumps(budget.to_dict())

        def work(connection: Any, _: bool) -> None:
            connection.execute(self._sql.WRITE_BUDGET, {"new": text})
            self._regroup(connection, budget, now)

        self._store.write(work)
        self._learn(text)

    def accept_clock(self) -> None:
        """For a clock that ran ahead and was put right: periods opened too early become part of today's.

        Their spending counts against today's money, so that nothing is given twice.
        """
        now = self._clock()

        def work(connection: Any, _: bool) -> None:
            # Of the books, where another process may have changed it since.
            budget = self._learn(connection.execute(self._sql.READ_ACCOUNT).one().budget)
            self._regroup(connection, budget, now)

        self._store.write(work)

    def _regroup(self, connection: Any, budget: Budget, now: float) -> None:
        """One period in place of those that begin with it or after it, with all that was spent since."""
        period = budget.period(max(now, budget.opens))
        assert period is not None  # at its start at the latest
        self._store.stand_alone(connection)
        since = {"period": period.start}
        later = connection.execute(self._sql.SUMS_FROM_ON, since).one()
        if now < budget.opens and not later.periods:
            connection.execute(self._sql.END_BY, since)  # its row is made by the first reservation
            return
        connection.execute(self._sql.DROP_FROM_ON, since)
        totals = Counter({name: int(getattr(later, name)) for name in SUMS})
        for moved in connection.execute(self._sql.SUMS_SINCE, since).all():
            sums = {name: int(getattr(moved, name)) for name in SUMS}
            connection.execute(self._sql.TAKE_OUT, {"out_of": moved.period} | sums)
            totals.update(sums)
        connection.execute(self._sql.OPEN_PERIOD, period_row(period) | {name: totals[name] for name in SUMS})
        connection.execute(self._sql.MOVE_CALLS, {"since": period.start, "new": period.start})
