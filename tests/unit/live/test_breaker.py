"""Services that fail are left out for a while, and tried again one call at a time."""

import asyncio
import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frugalmct.errors import FrugalError
from frugalmct.live.breaker import Breaker, Patience, ServiceTimeout, within, within_async

PATIENCE = Patience(timeout=5, failures=3, calls=6, pause=10, longest_pause=35, memory=100)


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def breaker(clock: Clock) -> Breaker:
    return Breaker(PATIENCE, clock=clock)


def broken(breaker: Breaker) -> Breaker:
    assert [breaker.failed("A") for _ in range(3)] == [False, False, True]
    return breaker


def test_left_out_after_failures(breaker: Breaker, clock: Clock) -> None:
    broken(breaker)
    assert (breaker.allows("A"), breaker.allows("B"), breaker.left_out()) == (False, True, ["A"])
    clock.now = 9.9
    assert not breaker.available("A")


def test_one_trial_after_the_pause(breaker: Breaker, clock: Clock) -> None:
    broken(breaker)
    clock.now = 10
    assert breaker.available("A") and breaker.available("A")  # looking claims nothing
    assert [breaker.allows("A") for _ in range(3)] == [True, False, False]
    breaker.succeeded("A")
    assert breaker.allows("A") and breaker.state("A") == "in use"
    assert not breaker.failed("A")  # the old failures are forgotten


def test_a_trial_given_back_is_the_next_ones(breaker: Breaker, clock: Clock) -> None:
    breaker.give_back("A")
    broken(breaker).give_back("A")
    assert not breaker.allows("A")  # no trial was claimed: nothing was given back
    clock.now = 10
    assert breaker.allows("A") and not breaker.allows("A")
    breaker.give_back("A")
    assert [breaker.allows("A") for _ in range(2)] == [True, False]


def test_pauses_grow_to_the_longest(breaker: Breaker, clock: Clock) -> None:
    broken(breaker)
    pauses = []
    for _ in range(4):
        start = clock.now
        while not breaker.allows("A"):
            clock.now += 1
        pauses.append(clock.now - start)
        assert breaker.failed("A")
    assert pauses == [10, 20, 35, 35]


def test_a_trial_that_was_never_reported(breaker: Breaker, clock: Clock) -> None:
    broken(breaker)
    clock.now = 10
    assert breaker.allows("A")
    clock.now = 19
    assert not breaker.allows("A")
    clock.now = 20
    assert breaker.allows("A")


def test_failures_of_long_ago_do_not_count(breaker: Breaker, clock: Clock) -> None:
    for _ in range(5):
        assert not breaker.failed("A")
        clock.now += 60
    assert breaker.allows("A")


def test_now_and_then_is_not_too_often(breaker: Breaker) -> None:
    for _ in range(20):
        assert not breaker.failed("A")
        breaker.succeeded("A")
        breaker.succeeded("A")
    assert breaker.allows("A")


def test_every_service_has_its_own_patience(clock: Clock) -> None:
    breaker = Breaker(PATIENCE, special={"B": Patience(failures=1, calls=1)}, clock=clock)
    assert breaker.failed("B") and not breaker.failed("A")


@given(st.lists(st.tuples(st.sampled_from(["ask well", "ask badly", "wait"]), st.floats(0, 40)), max_size=60))
def test_never_two_calls_within_a_pause(steps: list[tuple[str, float]]) -> None:
    """While a service is left out, calls are at least its pause apart."""
    clock = Clock()
    breaker = Breaker(PATIENCE, clock=clock)
    last_failure = None
    for kind, seconds in steps:
        if kind == "wait":
            clock.now += seconds
            continue
        was_out = breaker.state("A") != "in use"
        if breaker.allows("A"):
            if was_out:
                assert clock.now - last_failure >= PATIENCE.pause
            if kind == "ask well":
                breaker.succeeded("A")
            else:
                breaker.failed("A")
                last_failure = clock.now
        else:
            assert was_out


def test_threads_share_one_trial(breaker: Breaker, clock: Clock) -> None:
    broken(breaker)
    clock.now = 10
    allowed: list[bool] = []
    threads = [threading.Thread(target=lambda: allowed.append(breaker.allows("A"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(allowed) == 1


def test_within() -> None:
    assert within(None, lambda: 3) == within(5, lambda: 3) == 3
    with pytest.raises(KeyError):
        within(5, lambda: {}["x"])
    answered = threading.Event()
    started = time.monotonic()
    with pytest.raises(ServiceTimeout, match=r"within 0\.05 seconds"):
        within(0.05, lambda: answered.wait(60))
    answered.set()
    assert time.monotonic() - started < 30


def test_within_async() -> None:
    async def answer(seconds: float) -> int:
        await asyncio.sleep(seconds)
        return 3

    assert asyncio.run(within_async(5, lambda: answer(0))) == 3
    with pytest.raises(ServiceTimeout):
        asyncio.run(within_async(0.02, lambda: answer(60)))


@pytest.mark.parametrize("seconds", [None, 60.0])
def test_a_timeout_of_the_service_itself_is_told_as_its_own(seconds: float | None) -> None:
    async def answer() -> int:
        raise TimeoutError("of the client: no connection in 3 s")

    def answer_at_once() -> int:
        raise TimeoutError("of the client: no connection in 3 s")

    with pytest.raises(TimeoutError, match="no connection in 3 s"):
        asyncio.run(within_async(seconds, answer))
    with pytest.raises(TimeoutError, match="no connection in 3 s"):
        within(seconds, answer_at_once)


def test_waits_double() -> None:
    patience = Patience(wait=1)
    for retry, longest in ((1, 1), (2, 2), (3, 4)):
        assert longest / 2 <= patience.wait_before(retry) <= longest


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"timeout": 0}, "timeout is 0"),
        ({"timeout": -1}, "timeout is -1"),
        ({"retries": -1}, "retries is -1"),
        ({"failures": 5, "calls": 3}, "calls is 3"),
        ({"pause": "long"}, "pause is 'long'"),
    ],
)
def test_mistakes_are_named(options: dict, said: str) -> None:
    with pytest.raises(FrugalError, match=said):
        Patience(**options)
