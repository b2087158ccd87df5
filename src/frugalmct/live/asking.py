"""Asking services for the caller: timeouts, retries, threads and coroutines around a router's three steps.

What is to be done is decided in one place, `_conversation`, which yields steps of the router, calls and
pauses; `run` does them in this thread, `arun` awaits them.
"""

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Generator, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, Protocol, TypeVar

from frugalmct.checks import whole_number
from frugalmct.errors import FrugalError
from frugalmct.live.breaker import Breaker, within, within_async
from frugalmct.live.waiting import Soon

Ask = Callable[[str, Any], Any]
AsyncAsk = Callable[[str, Any], Awaitable[Any]]


@dataclass(frozen=True)
class _Call:
    service: str
    timeout: float | None


@dataclass(frozen=True)
class _Pause:
    seconds: float


class Asked(Protocol):
    """A ticket, of whatever kind."""

    ask: str | None


Held = TypeVar("Held", bound=Asked)
Made = TypeVar("Made")
Step = Callable[[], Any]
Conversation = Generator[Step | _Call | _Pause, Any, Made]


class Asking(Soon, Generic[Held, Made]):
    """The part of a router that calls services, whatever its tickets and results are."""

    breaker: Breaker

    def open(self, item: Any, *, id: str | None = None, features: Any = None) -> Held:
        raise NotImplementedError

    def decide(self, ticket: Held, answers: Any) -> str | None:
        raise NotImplementedError

    def close(self, ticket: Held, answers: Any = None) -> Made:
        raise NotImplementedError

    def _hand_over(self, ticket: Held, answer: Any) -> None:
        """`decide`, with what the service asked last gave."""
        raise NotImplementedError

    def _again(self, ticket: Held, answer: Any) -> bool:
        """Whether this is a failure after which the service may be asked once more."""
        raise NotImplementedError

    def _without_answer(self, id: str, error: FrugalError) -> Made:
        raise NotImplementedError

    def run(self, item: Any, ask: Ask, id: str | None = None, *, features: Any = None) -> Made:
        """Asks whom it pays to ask, and returns the answer.

        ask: called as `ask(service, item)`; returns `[["car", 0.9], ...]`, or with costs per call a
        `Call`, or raises. It may be called in another thread, so that it can be left when it takes too long.
        id: the item's, by default item["id"] or a new one; features: its own numbers, by default
        item["features"].
        """
        steps = self._conversation(item, id, features)
        step, result = _advance(steps, None)
        while result is None:
            outcome = None
            if isinstance(step, _Call):
                outcome = _outcome(step, ask, item)
            elif isinstance(step, _Pause):
                time.sleep(step.seconds)
            else:
                outcome = step()
            step, result = _advance(steps, outcome)
        return result

    async def arun(self, item: Any, ask: AsyncAsk, id: str | None = None, *, features: Any = None) -> Made:
        """`run` for coroutines: `await ask(service, item)`."""
        steps = self._conversation(item, id, features)
        step, result = _advance(steps, None)
        while result is None:
            outcome = None
            if isinstance(step, _Call):
                outcome = await _async_outcome(step, ask, item)
            elif isinstance(step, _Pause):
                await asyncio.sleep(step.seconds)
            else:
                outcome = await self._soon(step)
            step, result = _advance(steps, outcome)
        return result

    async def aopen(self, item: Any, id: str | None = None, *, features: Any = None) -> Held:
        return await self._soon(lambda: self.open(item, id=id, features=features))

    async def adecide(self, ticket: Held, answers: Any) -> str | None:
        return await self._soon(lambda: self.decide(ticket, answers))

    async def aclose(self, ticket: Held, answers: Any = None) -> Made:
        return await self._soon(lambda: self.close(ticket, answers))

    def batch(self, items: Iterable[Any], ask: Ask, *, workers: int = 1) -> Iterator[Made]:
        """Results in the order of the items, read as they are needed, `workers` of them at a time.

        An item without answer does not stop the others: its result has `error` instead of an answer.
        """
        whole_number("Router.batch", "workers", workers, least=1)
        if workers == 1:
            yield from (self._safely(item, ask) for item in items)
            return
        waiting: deque[Future[Made]] = deque()
        with ThreadPoolExecutor(workers) as pool:
            for item in items:
                waiting.append(pool.submit(self._safely, item, ask))
                if len(waiting) > 2 * workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()

    def _safely(self, item: Any, ask: Ask) -> Made:
        try:
            return self.run(item, ask)
        except FrugalError as error:
            return self._without_answer(item_id(item) or "", error)

    def _conversation(self, item: Any, id: str | None, features: Any) -> Conversation[Made]:
        ticket: Held = yield lambda: self.open(item, id=id, features=features)
        while ticket.ask is not None:
            service = ticket.ask
            patience = self.breaker.patience_of(service)
            answer = yield _Call(service, patience.timeout)
            for retry in range(1, patience.retries + 1):
                if not (yield partial(self._again, ticket, answer)):
                    break
                yield _Pause(patience.wait_before(retry))
                answer = yield _Call(service, patience.timeout)
            yield partial(self._hand_over, ticket, answer)
        result: Made = yield lambda: self.close(ticket)
        return result


def item_id(item: Any) -> str | None:
    """What the item calls itself."""
    own = item.get("id") if isinstance(item, Mapping) else None
    return None if own is None else str(own)


def _advance(steps: Conversation[Made], value: Any) -> tuple[Any, Made | None]:
    """What is to be done next; or the result, once there is nothing."""
    try:
        return steps.send(value), None
    except StopIteration as end:
        return None, end.value


def _outcome(call: _Call, ask: Ask, item: Any) -> Any:
    """The answer, or the exception in its place."""
    try:
        return within(call.timeout, lambda: ask(call.service, item))
    except Exception as error:
        return error


async def _async_outcome(call: _Call, ask: AsyncAsk, item: Any) -> Any:
    try:
        return await within_async(call.timeout, lambda: ask(call.service, item))
    except Exception as error:
        return error
