"""The recorded answers of PASCAL as live traffic: restarts, four workers, wrong guesses, hard items."""

import warnings

import numpy as np
import pytest
from live_market import answer_of
from released import real_folder

from frugalmct import Budget, Router, Strategy
from frugalmct.live import OutOfMoney, Patience
from frugalmct.metrics import set_metric
from frugalmct.model import Learning
from frugalmct.select import Problem, solve
from frugalmct.sources import load_market
from frugalmct.splits import split

pytestmark = pytest.mark.slow

PRICES = {"Everypixel": 6.0, "Microsoft": 10.0, "Google": 15.0}
PER = 10_000
BUDGET = 10.0


class Traffic:
    """Half the items train, the other half comes in; `worth` is the true accuracy of each choice.

    By the paper's method with our settings, whose offline optimum is known.
    """

    def __init__(self) -> None:
        source = {"kind": "frugalmct", "path": str(real_folder("FrugalMCT", "PASCAL"))}
        market = load_market("PASCAL", {"task": "MIC", "source": source, "prices": PRICES})
        parts = split(len(market), seed=2022, dataset="PASCAL")
        train = market.subset(parts.whole_train)
        budgets = [7, 8, BUDGET, 12, 14]
        self.strategy = Strategy.fit(train, budgets, method="paper", base="Everypixel", learning=Learning())
        self.train = train
        self.market = market.subset(parts.test)
        self.base = self.strategy.services.index("Everypixel")
        self.estimates = self.strategy.estimate(self.market, BUDGET)
        self.worth = np.column_stack([self.accuracy_with(k) for k in range(3)])
        self.answers = [
            [answer_of(self.market, service, row) for row in range(len(self.market))]
            for service in self.strategy.services
        ]

    def accuracy_with(self, service: int) -> np.ndarray:
        asked = np.tile([k in (self.base, service) for k in range(3)], (len(self.market), 1))
        return set_metric(self.market.truth, self.strategy.answer(self.market, asked))

    def router(self, items: int, guess: int, url: str | None, pace: str) -> Router:
        budget = Budget(total=BUDGET * items / PER, items=guess)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return Router(self.strategy, budget, url, per=PER, pace=pace, patience=Patience(timeout=None))

    def route(self, router: Router, row: int) -> int | None:
        """The choice made for an item; None when there was no money."""
        try:
            ticket = router.open(row)
        except OutOfMoney:
            return None
        while ticket.ask:
            service = self.strategy.services.index(ticket.ask)
            router.decide(ticket, {ticket.ask: self.answers[service][row]})
        return self.strategy.services.index(router.close(ticket).asked[-1])

    def accuracy(self, rows, choices) -> float:
        """Of all items; one without money has no answer, and no accuracy."""
        worth = [0.0 if k is None else self.worth[row, k] for row, k in zip(rows, choices, strict=True)]
        return float(np.mean(worth))

    def stream(self, rows, guess=None, url=None, pace="adaptive", workers=1, restart=None):
        """Accuracy and spending of routers that take turns, started again every `restart` items."""
        make = lambda: self.router(len(rows), guess or len(rows), url, pace)  # noqa: E731
        routers = [make() for _ in range(workers)]
        choices = []
        for number, row in enumerate(rows):
            if restart and number and number % restart == 0:
                for router in routers:
                    router.shut()
                routers = [make() for _ in range(workers)]
            choices.append(self.route(routers[number % workers], row))
        state = routers[0].money.state()
        assert state.spent_nano + state.reserved_nano <= state.money_nano
        for router in routers:
            router.shut()
        return self.accuracy(rows, choices), state.spent * PER / len(rows), choices


@pytest.fixture(scope="module")
def traffic() -> Traffic:
    return Traffic()


@pytest.mark.parametrize("pace", ["fixed", "adaptive"])
def test_restarts_and_four_workers_lose_nothing(traffic, tmp_path, pace):
    rows = list(range(3000))
    alone, _, _ = traffic.stream(rows, pace=pace)
    found, cost, choices = traffic.stream(
        rows, url=f"sqlite:///{tmp_path}/l.db", pace=pace, workers=4, restart=500
    )
    assert None not in choices and cost <= BUDGET
    assert found == pytest.approx(alone, abs=0.005)
    known = traffic.strategy.evaluate(traffic.market.subset(np.arange(3000)), BUDGET)
    assert found == pytest.approx(known.accuracy, abs=0.005)


@pytest.mark.parametrize(("factor", "lost"), [(10.0, 0.12), (0.1, 0.25)])
def test_a_guess_ten_times_wrong_keeps_the_budget(traffic, factor, lost):
    """The losses are those of docs/live.md: too high asks the base alone, too low runs out of money."""
    rows = list(range(3000))
    right, _, _ = traffic.stream(rows)
    found, cost, _ = traffic.stream(rows, guess=int(factor * 3000))
    assert cost <= BUDGET
    assert right - lost < found < right


@pytest.mark.parametrize(
    ("half", "pace", "within"), [("hard", "adaptive", 0.010), ("usual", "adaptive", 0.002)]
)
def test_pacing(traffic, half, pace, within):
    """Hard half: near the offline optimum. Usual mix in random order: near the fixed pace."""
    rows = np.arange(len(traffic.market))
    if half == "hard":
        rows = np.sort(np.argsort(traffic.worth.mean(axis=1), kind="stable")[: len(rows) // 2])
        problem = Problem(traffic.estimates[rows], traffic.strategy.prices, traffic.base, BUDGET)
        against = traffic.accuracy(rows, solve(problem).choices.tolist())
    else:
        against, _, _ = traffic.stream(rows.tolist(), pace="fixed")
    found, cost, _ = traffic.stream(rows.tolist(), pace=pace)
    assert cost <= BUDGET and found > against - within


def test_a_service_down_for_the_middle_third(traffic):
    rows = list(range(3000))
    google = traffic.strategy.services.index("Google")
    router = traffic.router(len(rows), len(rows), None, "fixed")
    clock, choices, charged = [0.0], [], 0.0
    router.breaker.clock = lambda: clock[0]
    for row in rows:
        clock[0] += 1.0
        ticket = router.open(row)
        while ticket.ask:
            service = traffic.strategy.services.index(ticket.ask)
            down = service == google and 1000 <= row < 2000
            charged += 0.0 if down else traffic.strategy.prices[service] / PER
            router.decide(ticket, {ticket.ask: None if down else traffic.answers[service][row]})
        choices.append(traffic.strategy.services.index(router.close(ticket).asked[-1]))
    assert router.money.state().spent == pytest.approx(charged) and charged <= BUDGET * 3000 / PER
    best = traffic.estimates[rows].copy()
    best[1000:2000, google] = 0.0
    remaining = solve(Problem(best, traffic.strategy.prices, traffic.base, BUDGET)).choices
    assert traffic.accuracy(rows, choices) > traffic.accuracy(rows, remaining.tolist()) - 0.01


@pytest.mark.parametrize("base", ["auto", ["Everypixel", "Microsoft"]])
def test_plus_routes_as_it_evaluates(traffic, tmp_path, base):
    """With further steps, on a ledger that is opened anew every 200 items."""
    strategy = Strategy.fit(traffic.train.subset(np.arange(1000)), [18.0], base=base)
    market = traffic.market.subset(np.arange(600))
    expected = strategy.evaluate(market, 18.0)
    asked, correct, url = [], 0.0, f"sqlite:///{tmp_path}/l.db"
    for start in range(0, 600, 200):
        budget = Budget(total=18.0 * 600 / PER, items=600)
        with Router(strategy, budget, url, per=PER, pace="fixed", patience=Patience(timeout=None)) as router:
            for row in range(start, start + 200):
                result = router.run(row, lambda name, row: answer_of(market, name, row))
                asked.append([name in result.asked for name in strategy.services])
                true = set(market.labels[market.truth[row].indices].tolist())
                said = {label for label, _ in result.answer}
                correct += len(true & said) / len(true | said) if true | said else 1.0
            state = router.money.state()
    assert asked == expected.asked.tolist() and max(map(sum, asked)) == 3
    assert correct / 600 == pytest.approx(expected.accuracy)
    assert state.spent * PER / 600 == pytest.approx(expected.cost) and expected.cost <= 18.0
