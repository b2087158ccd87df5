"""What the status page shows: a look at the router now and then, and the course of the spend."""

import asyncio
import logging
import time
from collections.abc import Callable
from typing import Any

from frugalmct import __version__
from frugalmct.errors import FrugalError
from frugalmct.live.percall import PerCallRouter
from frugalmct.live.router import Router
from frugalmct.live.traffic import Health
from frugalmct.serve.desk import Desk

LOG = logging.getLogger("frugalmct.serve")
FRESH = 1.0
"""Seconds for which a look is good enough: however many ask, the ledger is read once."""
MOST_POINTS = 400


class History:
    """Points in time in constant memory: once there are too many, every second one goes."""

    def __init__(self, most: int = MOST_POINTS, every: float = 5.0) -> None:
        self.most, self.every = most, every
        self.points: list[tuple[float, ...]] = []

    def add(self, *point: float) -> None:
        self.points.append(point)
        if len(self.points) > self.most:
            self.points = self.points[::2]
            self.every *= 2


class Watch:
    """Looks at a router, not more often than needed."""

    def __init__(
        self,
        router: Router | PerCallRouter,
        desk: Desk,
        fresh: float = FRESH,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.router, self.desk, self.fresh = router, desk, fresh
        self.history = History()
        self.since = clock()
        self._clock = clock
        self._lock = asyncio.Lock()
        self._seen: Health | None = None
        self._until = 0.0

    async def health(self) -> Health:
        async with self._lock:
            if self._seen is None or time.monotonic() >= self._until:
                self._seen = await asyncio.to_thread(self.router.health)
                self._until = time.monotonic() + self.fresh
            return self._seen

    async def status(self) -> dict[str, Any]:
        """Everything the page shows, as plain values."""
        health = await self.health()
        desk = self.desk
        return {
            "version": __version__,
            "now": self._clock(),
            "since": self.since,
            "services": list(self.router.strategy.services),
            "prices": [float(price) for price in self.router.strategy.prices],
            "health": health.to_dict(),
            "planned": planned(health),
            "tickets": len(desk),
            "closed": desk.items,
            "asked": dict(desk.asked),
            "failed": dict(desk.failed),
            "history": self.history.points,
        }

    async def keep_looking(self) -> None:
        """Notes the spend now and then, for the page's curve; a ledger that is away is waited for."""
        while True:
            try:
                health = await self.health()
                self.history.add(self._clock(), health.items, health.spent, planned(health) or 0.0)
            except FrugalError as error:
                LOG.warning("No look at the router: %s", error)
            await asyncio.sleep(self.history.every)


def planned(health: Health) -> float | None:
    """What the plan would have spent by now: its share of the money, by the items that have come."""
    if health.items_left is None:
        return None
    expected = health.items + health.items_left
    return health.money * health.items / expected if expected else 0.0
