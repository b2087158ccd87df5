"""Tickets that callers come back to: what a router's three steps are over HTTP, without the HTTP.

A caller may lose its connection at any moment and send its request again. So a step that was done before
changes nothing and gives the same reply, and two requests never work on one ticket at a time.
"""

import secrets
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from frugalmct.errors import FrugalError
from frugalmct.live.calls import call_of
from frugalmct.live.percall import PerCallRouter
from frugalmct.live.router import Router
from frugalmct.live.tickets import NoAnswer, OutOfMoney

MOST_OPEN = 10_000
"""Tickets that may be open at a time: a caller that never closes any must not fill the memory."""
MOST_CLOSED = 10_000
"""Results that can be asked for again."""
KEEP = 3600.0
"""Seconds after which an open ticket is forgotten; its money stays reserved, which counts as spent."""


class Refused(FrugalError):
    """A request that cannot be served as it is; `status` is its HTTP status."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


@dataclass
class _Open:
    ticket: Any  # of the router's kind
    since: float
    busy: bool = False


class Desk:
    """Belongs to one event loop; the router's own work may run in threads."""

    def __init__(
        self,
        router: Any,
        *,
        most_open: int = MOST_OPEN,
        keep: float = KEEP,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.router = router
        self.most_open, self.keep = most_open, keep
        self._clock = clock
        self._open: dict[str, _Open] = {}
        self._closed: dict[str, dict[str, Any]] = {}
        self.items = 0
        self.expected = 0.0
        self.cost = 0.0
        self.asked: Counter[str] = Counter()
        self.failed: Counter[str] = Counter()

    def __len__(self) -> int:
        """Tickets that are open."""
        return len(self._open)

    async def open(self, item: Mapping[str, Any]) -> dict[str, Any]:
        """A ticket for the item, and whom to ask first."""
        self._forget_old()
        if len(self._open) >= self.most_open:
            raise Refused(503, f"{self.most_open:,} tickets are open, which is the most; close some first.")
        ticket = await self.router.aopen(item)
        key = secrets.token_hex(12)
        self._open[key] = _Open(ticket, self._clock())
        return _where(key, ticket)

    async def decide(self, key: str, answers: Mapping[str, Any]) -> dict[str, Any]:
        """Whom to ask next, given what the service asked last has answered."""
        if key in self._closed:  # it ended with a step before
            return self._closed[key]
        held = self._held(key)
        ticket = held.ticket
        if not self._said_before(ticket, answers):
            held.busy = True
            try:
                await self._take(ticket, answers)
            except (NoAnswer, OutOfMoney) as error:
                return self._end(key, held, _without_answer(ticket, error))
            finally:
                held.busy = False
        return _where(key, ticket)

    async def close(self, key: str, answers: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The combined answer; the money is settled. Closing again gives the same result."""
        if key in self._closed:
            return self._closed[key]
        held = self._held(key)
        held.busy = True
        try:
            result = (await self._finish(held.ticket, answers)).to_dict()
        except (NoAnswer, OutOfMoney) as error:
            result = _without_answer(held.ticket, error)
        finally:
            held.busy = False
        return self._end(key, held, result)

    async def _take(self, ticket: Any, answers: Mapping[str, Any]) -> None:
        await self.router.adecide(ticket, answers)

    async def _finish(self, ticket: Any, answers: Mapping[str, Any] | None) -> Any:
        return await self.router.aclose(ticket, answers)

    def _answered(self, ticket: Any) -> set[str]:
        return set(ticket.answers)

    def _said_before(self, ticket: Any, answers: Mapping[str, Any]) -> bool:
        """Whether all of this was taken already: a request sent again."""
        known = self._answered(ticket) | ticket.failed.keys()
        return ticket.ask not in answers and answers.keys() <= known

    def _end(self, key: str, held: _Open, result: dict[str, Any]) -> dict[str, Any]:
        self._count(held.ticket, result)
        del self._open[key]
        self._closed[key] = result
        if len(self._closed) > MOST_CLOSED:
            del self._closed[next(iter(self._closed))]
        return result

    def _held(self, key: str) -> _Open:
        held = self._open.get(key)
        if held is None:
            raise Refused(
                404,
                "there is no such ticket: it was closed long ago, left open for too long, or opened at "
                "another server; open a new one.",
            )
        if held.busy:
            raise Refused(409, "another request is at work on this ticket; send this one again after it.")
        return held

    def _forget_old(self) -> None:
        """Tickets stand in the order in which they were opened."""
        before = self._clock() - self.keep
        while self._open:
            key, oldest = next(iter(self._open.items()))
            if oldest.since > before or oldest.busy:
                return
            del self._open[key]

    def _count(self, ticket: Any, result: Mapping[str, Any]) -> None:
        self.items += 1
        self.cost += result["cost"]
        self.expected += result.get("expected") or 0.0
        self.asked.update(result.get("asked", ()))
        self.failed.update(ticket.failed.keys())


class CallDesk(Desk):
    """The same where every call has its own cost: what a service gave is its answer with the cost."""

    router: PerCallRouter

    async def _take(self, ticket: Any, answers: Mapping[str, Any]) -> None:
        if ticket.ask is None:
            return
        if ticket.ask not in answers:
            raise FrugalError(
                f"Item {ticket.id} waits for the call of {ticket.ask}, which is not among those given; give "
                "it, or null if it failed."
            )
        await self.router.adecide(ticket, call_of(answers[ticket.ask]))

    async def _finish(self, ticket: Any, answers: Mapping[str, Any] | None) -> Any:
        if answers and not self._said_before(ticket, answers):
            await self._take(ticket, answers)
        return await self.router.aclose(ticket)

    def _answered(self, ticket: Any) -> set[str]:
        return {self.router.strategy.services[service] for service in ticket.calls}


def desk_of(router: Router | PerCallRouter) -> Desk:
    return CallDesk(router) if isinstance(router, PerCallRouter) else Desk(router)


def _without_answer(ticket: Any, error: NoAnswer | OutOfMoney) -> dict[str, Any]:
    return {"id": ticket.id, "error": str(error), "cost": error.cost}


def _where(key: str, ticket: Any) -> dict[str, Any]:
    """Where a ticket stands."""
    place = {"ticket": key, "id": ticket.id, "ask": ticket.ask}
    return place | ({"failed": dict(ticket.failed)} if ticket.failed else {})
