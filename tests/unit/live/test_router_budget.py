"""A router whose budget begins, or is changed, while it runs."""

import pytest
from live_market import photos

from frugalmct import Budget, Learning, Router, Strategy
from frugalmct.live import OutOfMoney
from frugalmct.live.ledger import Ledger

DAY = 86_400.0


@pytest.fixture(scope="module")
def strategy() -> Strategy:
    learning = Learning(options={"trees": 10, "leaf": 5})
    return Strategy.fit(photos(150), [2.0], method="paper", base="cheap", learning=learning)


def ask(service: str, item: object) -> list[list]:
    return [["car", 0.5]]


@pytest.mark.parametrize("database", [None, "sqlite"])
def test_opened_before_the_start_it_paces_as_if_opened_after(strategy, tmp_path, database) -> None:
    budget = Budget(total=200.0, items=200, start="1970-01-11")
    answered = []
    for opened in (9.5 * DAY, 10.5 * DAY):
        now = [opened]
        url = database and f"sqlite:///{tmp_path}/{opened}.db"
        with Router(strategy, budget, url, clock=lambda now=now: now[0]) as router:
            if opened < 10 * DAY:
                with pytest.raises(OutOfMoney):
                    router.run({"id": "early"}, ask)
            now[0] = 10.5 * DAY
            results = list(router.batch(({"id": str(n)} for n in range(200)), ask))
            answered.append([result.asked for result in results])
    assert answered[0] == answered[1] and all(answered[0])


def test_a_router_that_runs_paces_by_the_new_budget(strategy, tmp_path) -> None:
    url, now = f"sqlite:///{tmp_path}/l.db", [10.5 * DAY]
    with (
        Router(strategy, Budget(total=2_000.0, items=200), url, clock=lambda: now[0]) as router,
        Ledger.open(url, clock=lambda: now[0]) as elsewhere,
    ):
        rich = router.run({"id": "a"}, ask)
        assert router.course.items_left(1, now[0], router.money.state()) == 199
        elsewhere.change_budget(Budget(total=120.0, items=200))
        now[0] += 61.0
        rest = list(router.batch(({"id": str(n)} for n in range(199)), ask))
        assert router.course.budget == Budget(total=120.0, items=200)
        assert router.money.state().items == 200 and router.turned_away == 0
    assert len(rich.asked) > 1 and any(len(result.asked) == 1 for result in rest)
    assert all(result.answer is not None for result in rest)
