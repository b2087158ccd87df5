"""The router decides as the strategy it was made from, and the money holds."""

import asyncio
import math
import multiprocessing
import time
import warnings
from pathlib import Path

import numpy as np
import pytest
from live_market import PRICES, Recorded, answer_of, photos

from frugalmct import Budget, Learning, Router, Strategy
from frugalmct.errors import FrugalError
from frugalmct.live import OutOfMoney, Patience
from frugalmct.metrics import set_metric

PER = 1000
PATIENT = Patience(timeout=None)


SMALL = Learning(options={"trees": 20, "leaf": 5})


@pytest.fixture(scope="module", params=["paper", "plus"])
def strategy(request) -> Strategy:
    return Strategy.fit(photos(400), [3.0, 5.0, 8.0], method=request.param, base="cheap", learning=SMALL)


@pytest.fixture(scope="module")
def two_first() -> Strategy:
    return Strategy.fit(photos(400), [7.0, 11.0], base=["good", "cheap"], learning=SMALL)


@pytest.fixture(scope="module")
def test_market():
    return photos(300, 2, "new")


def router(strategy, items=300, rate=5.0, ledger=None, **options) -> Router:
    options = {"per": PER, "pace": "fixed", "patience": PATIENT} | options
    return Router(strategy, Budget(total=rate * items / PER, items=items), ledger, **options)


def reached(market, results) -> float:
    """Mean accuracy by the market's truth, worked out from the answers."""
    total = 0.0
    for row, result in enumerate(results):
        true = set(market.labels[market.truth[row].indices].tolist())
        said = {label for label, _ in result.answer}
        total += len(true & said) / len(true | said)
    return total / len(results)


def asked_of(results) -> list[list[bool]]:
    return [[service in result.asked for service in PRICES] for result in results]


@pytest.mark.parametrize("rate", [0.5, 3.0, 8.0, 13.0])
@pytest.mark.parametrize("database", [None, "sqlite"])
def test_choices_cost_and_accuracy_are_those_of_evaluate(strategy, test_market, tmp_path, rate, database):
    ledger = f"sqlite:///{tmp_path}/l.db" if database else None
    ask = Recorded(test_market)
    known = strategy.with_prices({}, budgets=[rate])
    with router(known, rate=rate, ledger=ledger) as made:
        results = [made.run(item, ask) for item in ask.items()]
        state = made.money.state()
    expected = known.evaluate(test_market, rate)
    assert asked_of(results) == expected.asked.tolist()
    assert sum(result.cost for result in results) * PER / 300 == pytest.approx(expected.cost)
    assert state.spent * PER / 300 == pytest.approx(expected.cost) and state.reserved_nano == 0
    assert reached(test_market, results) == pytest.approx(expected.accuracy)
    assert all(result.why and result.id.startswith("new ") for result in results)


def test_a_connection_that_breaks_once_all_is_written_changes_nothing(
    strategy, test_market, tmp_path, monkeypatch
):
    """The ledger is then asked again, and finds what it has; see `Store.write`."""
    ask = Recorded(test_market)
    with router(strategy, rate=8.0, ledger=f"sqlite:///{tmp_path}/l.db") as made:
        write = made.money._store.write

        def twice(work):
            write(work)
            return write(lambda connection, _: work(connection, True))

        monkeypatch.setattr(made.money._store, "write", twice)
        results = [made.run(item, ask) for item in ask.items()]
        state = made.money.state()
    expected = strategy.evaluate(test_market, 8.0)
    assert asked_of(results) == expected.asked.tolist()
    assert state.spent * PER / 300 == pytest.approx(expected.cost) and state.reserved_nano == 0


@pytest.mark.parametrize("rate", [7.0, 11.0])
@pytest.mark.parametrize("database", [None, "sqlite"])
def test_several_services_first_are_asked_and_paid_one_after_the_other(
    two_first, test_market, tmp_path, rate, database
):
    ledger = f"sqlite:///{tmp_path}/l.db" if database else None
    ask = Recorded(test_market)
    with router(two_first, rate=rate, ledger=ledger) as made:
        results = [made.run(item, ask) for item in ask.items()]
        state, health = made.money.state(), made.health()
    expected = two_first.evaluate(test_market, rate)
    assert asked_of(results) == expected.asked.tolist()
    assert all(result.asked[:2] == ("cheap", "good") for result in results)
    assert state.spent * PER / 300 == pytest.approx(expected.cost) and state.reserved_nano == 0
    assert state.items == 300 and health.drift.enough and not health.drift.drifted
    assert reached(test_market, results) == pytest.approx(expected.accuracy)
    assert any("cheap + good alone" in result.why for result in results)


def test_after_the_add_on_a_further_service_may_be_asked(test_market):
    made = Strategy.fit(photos(400), [13.0], base="cheap", learning=SMALL)
    with router(made, rate=13.0) as live:
        ask = Recorded(test_market)
        results = [live.run(item, ask) for item in ask.items()]
    further = [result for result in results if len(result.asked) == 3]
    assert further and asked_of(results) == made.evaluate(test_market, 13.0).asked.tolist()
    first, second = further[0].asked[1:]
    assert f"{first} was asked as well" in further[0].why and f"; then {second} was asked" in further[0].why
    assert f"with cheap + {first} alone" in further[0].why


def test_a_service_is_asked_once_and_only_where_it_was_paid_for(strategy, test_market):
    ask = Recorded(test_market)
    made = router(strategy)
    results = [made.run(item, ask) for item in ask.items()]
    assert ask.calls == [(service, result.id) for result in results for service in result.asked]
    assert made.money.state().spent == pytest.approx(sum(PRICES[service] for service, _ in ask.calls) / PER)


def test_steps_by_hand_are_what_run_does(strategy, test_market):
    ask = Recorded(test_market)
    whole, steps = router(strategy), router(strategy)
    for item in ask.items():
        ticket = steps.open(item)
        assert ticket.ask == "cheap"
        answers = {"cheap": ask("cheap", item)}
        while (wanted := steps.decide(ticket, answers)) is not None:
            answers[wanted] = ask(wanted, item)
        result = steps.close(ticket, answers)
        assert result == whole.run(item, ask)
        assert steps.money.state().reserved_nano == 0


def test_a_ticket_closed_early_gives_the_money_back(strategy, test_market):
    made = router(strategy, rate=8.0)
    for row in range(len(test_market)):
        ticket = made.open({"id": str(row)})
        if made.decide(ticket, {"cheap": answer_of(test_market, "cheap", row)}):
            break
    spent = made.money.state().spent
    result = made.close(ticket)
    assert result.asked == ("cheap",) and result.cost == PRICES["cheap"] / PER
    assert made.money.state().spent == spent and made.money.state().reserved_nano == 0
    with pytest.raises(FrugalError, match="is closed; open one per item"):
        made.close(ticket)


def test_async_twins(strategy, test_market, tmp_path):
    ask = Recorded(test_market)

    async def ask_later(service, item):
        await asyncio.sleep(0)
        return ask(service, item)

    async def main():
        made = router(strategy, items=60, ledger=f"sqlite:///{tmp_path}/l.db")
        items = list(ask.items())[:60]
        results = [await made.arun(item, ask_later) for item in items[:30]]
        results += await asyncio.gather(*(made.arun(item, ask_later) for item in items[30:58]))
        ticket = await made.aopen(items[58])
        await made.adecide(ticket, {"cheap": ask("cheap", items[58])})
        results.append(await made.aclose(ticket))
        return results, made.money.state()

    results, state = asyncio.run(main())
    plain = router(strategy, items=60)
    alone = [plain.run(item, ask) for item in list(ask.items())[:30]]
    assert results[:30] == alone and len(results) == 59
    assert state.spent == pytest.approx(sum(result.cost for result in results)) and state.reserved_nano == 0


@pytest.mark.parametrize("workers", [1, 4])
def test_batch_keeps_the_order_and_the_budget(strategy, test_market, workers):
    ask = Recorded(test_market)
    made = router(strategy)
    results = list(made.batch(ask.items(), ask, workers=workers))
    assert [result.id for result in results] == test_market.items.tolist()
    assert all(result.answer is not None for result in results)
    assert made.money.state().spent <= made.money.state().money


def test_a_batch_says_which_items_had_no_money(strategy, test_market):
    ask = Recorded(test_market)
    made = router(strategy, items=10, rate=3.0)
    results = list(made.batch(ask.items(), ask))
    errors = [result for result in results if result.error]
    assert results[0].answer is not None and results[-1].answer is None
    assert errors and all("left of the budget's 0.03" in result.error for result in errors)
    assert made.money.state().spent_nano <= made.money.state().money_nano
    with pytest.raises(OutOfMoney, match="was not sent anywhere"):
        made.run({"id": "late"}, ask)


def test_labels_never_seen_and_items_without_id(strategy):
    made = router(strategy, rate=8.0)
    result = made.run("a text", lambda service, item: [("submarine", 0.99), ("car", 0.98)])
    assert {label for label, _ in result.answer} <= {"submarine", "car"} and result.id
    assert made.run("b", lambda service, item: []).answer == []


def test_a_restart_goes_on_where_it_was(strategy, test_market, url):
    """On both databases."""
    ask = Recorded(test_market)
    choices = []
    items = list(ask.items())
    for start in range(0, 300, 50):
        with router(strategy, ledger=url) as made:
            choices += [made.run(item, ask).asked for item in items[start : start + 50]]
    one = router(strategy)
    assert choices == [one.run(item, ask).asked for item in items]


def _work(folder: str, file: str, worker: int, pace: str) -> None:
    market = photos(300, 2, "new")
    ask = Recorded(market)
    with router(file, ledger=f"sqlite:///{folder}/l.db", pace=pace) as made:
        results = [made.run(item, ask) for item in list(ask.items())[worker::4]]
    assert all(result.answer is not None for result in results)


@pytest.mark.parametrize("pace", ["fixed", "adaptive"])
def test_four_processes_share_one_budget(strategy, test_market, tmp_path, pace):
    strategy.save(tmp_path / "s.npz")
    context = multiprocessing.get_context("spawn")
    arguments = [(str(tmp_path), str(tmp_path / "s.npz"), worker, pace) for worker in range(4)]
    workers = [context.Process(target=_work, args=one) for one in arguments]
    for worker in workers:
        worker.start()
    watcher = None
    while any(worker.is_alive() for worker in workers):
        if watcher is None and (tmp_path / "l.db").exists():
            watcher = _opened(tmp_path)
        if watcher is not None:
            state = watcher.state()
            assert state.spent_nano + state.reserved_nano <= state.money_nano
        workers[0].join(0.02)
    assert [worker.exitcode for worker in workers] == [0] * 4
    state = _opened(tmp_path).state()
    assert state.items == 300 and state.reserved_nano == 0 and state.spent > 0.9 * state.money


def test_a_process_that_is_killed_takes_no_more_than_it_had_reserved(strategy, tmp_path):
    strategy.save(tmp_path / "s.npz")
    context = multiprocessing.get_context("spawn")
    arguments = [(str(tmp_path), str(tmp_path / "s.npz"), worker, "adaptive") for worker in range(2)]
    killed, other = (context.Process(target=_work, args=one) for one in arguments)
    killed.start()
    other.start()
    while not (tmp_path / "l.db").exists() or _opened(tmp_path).state().items < 20:
        time.sleep(0.02)
    killed.kill()
    killed.join()
    other.join()
    assert other.exitcode == 0
    state = _opened(tmp_path).state()
    assert state.spent_nano + state.reserved_nano <= state.money_nano
    assert state.reserved <= max(PRICES.values()) / PER, "one call at most was under way"
    _work(*arguments[0])  # started again, it routes all of its items
    assert _opened(tmp_path).state().items >= 150


def _opened(folder: Path):
    from frugalmct.live import Ledger

    return Ledger.open(f"sqlite:///{folder}/l.db", Budget(total=5.0 * 300 / PER, items=300))


# --- plan and guards


def test_the_plan_is_that_of_the_money_per_item(strategy):
    assert router(strategy, rate=5.0).course.plan == strategy.plan(5.0)
    assert router(strategy, rate=4.0).course.plan == strategy.plan_at(4.0)
    assert router(strategy, rate=80.0).course.plan == strategy.plan(8.0), "never above the largest trained"
    made = Router(strategy, Budget(per_day=3.0), per=PER, plan=3.0)
    assert made.course.plan == strategy.plan(3.0)


def test_far_too_many_items_expected_leaves_add_ons_out(strategy, test_market):
    with pytest.warns(UserWarning, match=r"leaves 0\.0003 for an item, but the base alone costs 0\.0005"):
        made = router(strategy, items=3000, rate=0.3)
    ask = Recorded(test_market)
    results = [made.run(item, ask) for item in ask.items()]
    assert {result.asked for result in results} == {("cheap",)}
    assert "pays for 1,800 items" in made.health().warnings[0]
    assert any("does not pay for the service that was wanted" in result.why for result in results)


def test_far_too_few_items_expected_goes_on_and_says_so(strategy, test_market):
    """30 expected, 300 came: as many again are expected each time, so that bases stay paid for a while."""
    ask = Recorded(test_market)
    made = Router(strategy, Budget(total=5.0 * 300 / PER, items=30), per=PER, patience=PATIENT)
    assert made.course.plan.budget == 8.0
    results = list(made.batch(ask.items(), ask))
    answered = [result for result in results if result.answer is not None]
    most = max(result.cost for result in answered)
    assert len(answered) >= 1.3 * (5.0 * 300 / PER) / most, "more than without any guard"
    assert made.money.state().spent_nano <= made.money.state().money_nano
    assert any("300 items have come, but 30 were expected" in text or "items have come" in text
               for text in made.health().warnings)  # fmt: skip


@pytest.mark.parametrize(
    ("seen", "left"), [(1, 99), (100, 0), (101, 99), (200, 0), (201, 199), (400, 0), (401, 399)]
)
def test_items_left_once_more_came_than_expected(strategy, seen, left):
    made = router(strategy, items=100)
    assert made._items_left(seen) == left


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda s: Router(s), "no budget was given"),
        (lambda s: Router(s, 120), "budget is 120; give a Budget"),
        (lambda s: Router(s, Budget(per_day=3)), "knows the budgets 3.0, 5.0, 8.0; give Budget(items=...)"),
        (lambda s: Router(s, Budget(total=3, items=5), per=0), "per is 0; give what prices are per"),
        (lambda s: Router(s, Budget(total=3, items=5), pace="slow"), "pace is 'slow'"),
        (lambda s: Router("absent.npz", Budget(total=3, items=5)), "no such strategy file"),
    ],
)
def test_mistakes_get_a_sentence(strategy, make, sentence):
    with pytest.raises(FrugalError) as error:
        make(strategy)
    assert sentence in str(error.value)


def test_an_answer_that_is_missing_is_asked_for(strategy):
    made = router(strategy)
    with pytest.raises(FrugalError, match="item a waits for the answer of cheap"):
        made.decide(made.open({"id": "a"}), {"good": []})


def test_adaptive_keeps_money_for_the_end_when_items_are_hard(strategy):
    """All items hard: fixed spends its money on the first ones, adaptive spreads it."""
    hard = photos(300, 7, "hard", share_hard=1.0)
    ask = Recorded(hard)
    late = {}
    for pace in ("fixed", "adaptive"):
        made = router(strategy, rate=3.0, pace=pace)
        results = [made.run(item, ask) for item in ask.items()]
        late[pace] = sum(len(result.asked) > 1 for result in results[200:])
        assert made.money.state().spent_nano <= made.money.state().money_nano
    assert late["fixed"] == 0 and late["adaptive"] > 10


def test_accuracy_is_the_metric_of_the_sets(strategy, test_market):
    """The hand-made mean of `reached` is what the library measures."""
    alone = np.tile([True, False, False], (len(test_market), 1))
    sets = strategy.answer(test_market, alone)
    made = router(strategy, rate=0.5001)
    ask = Recorded(test_market)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        results = [made.run(item, ask) for item in ask.items()]
    assert reached(test_market, results) == pytest.approx(float(set_metric(test_market.truth, sets).mean()))
    assert not math.isnan(results[0].expected)
