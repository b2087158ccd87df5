"""Steps that are to be done at once or not at all, so that an event loop is never held up."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from frugalmct.live.records import WouldWait


class Waiting:
    """Of whatever a step may have to wait for: whether this thread's step may."""

    def __init__(self) -> None:
        self._step = threading.local()

    @contextmanager
    def without_waiting(self) -> Iterator[None]:
        """Inside, `may_wait` raises WouldWait."""
        self._step.at_once = self._step.wanted = True
        try:
            yield
        finally:
            self._step.at_once = self._step.wanted = False

    def may_wait(self, anew: bool = False) -> None:
        """For what is about to take its time: WouldWait where it must not.

        anew: also once something was begun, for a step that has kept nothing of it.
        """
        if self.must_not_wait or (anew and getattr(self._step, "wanted", False)):
            raise WouldWait

    @property
    def must_not_wait(self) -> bool:
        return getattr(self._step, "at_once", False)

    def begun(self) -> None:
        """What follows belongs to what is begun, and is waited for."""
        self._step.at_once = False


class Soon:
    """Of a router: steps for coroutines."""

    money: Any

    async def _soon(self, step: Callable[[], Any]) -> Any:
        """Here if nothing has to be waited for, else in another thread."""
        if self.money.at_hand:
            try:
                with self.money.without_waiting():
                    return step()
            except WouldWait:
                pass
        return await asyncio.to_thread(step)
