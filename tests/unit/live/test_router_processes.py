"""Routers that are killed, clocks that jump, disks that fill up: the money holds, and nothing is lost."""

import random
import subprocess
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from live_market import Recorded, photos
from test_ledger_processes import BOTH

from frugalmct import Budget, Router, Strategy
from frugalmct.live import Ledger, OutOfMoney, Patience, Purse

pytest.importorskip("sqlalchemy", reason="the ledger needs SQLAlchemy: pip install 'frugalmct[live]'")

HERE = Path(__file__).parent
PER = 1000
DAY = 86_400.0


@pytest.fixture(scope="module")
def strategy() -> Strategy:
    return Strategy.fit(photos(400), [3.0, 5.0, 8.0], base="cheap", options={"trees": 20, "leaf": 5})


@pytest.fixture
def file(strategy, tmp_path) -> Path:
    strategy.save(tmp_path / "s.npz")
    return tmp_path / "s.npz"


class Crew:
    """Workers that route; one is killed each time all together have done so many items more."""

    def __init__(self, file: Path, url: str, workers: int, items: int, killed_every: int) -> None:
        self.file, self.url, self.items = file, url, items
        self.logs = [file.parent / f"worker{n}.log" for n in range(workers)]
        self.running = [self._start(n) for n in range(workers)]
        self.killed, self.killed_every = 0, killed_every

    def _start(self, number: int) -> subprocess.Popen:
        worker = [sys.executable, HERE / "router_worker.py", self.file, self.url, self.logs[number]]
        return subprocess.Popen([*worker, f"w{number}", str(self.items)], stderr=subprocess.PIPE)

    def busy(self) -> bool:
        for process in self.running:
            if process.poll() not in (None, 0):
                raise AssertionError(process.communicate()[1].decode())
        return any(process.poll() is None for process in self.running)

    def lines(self) -> list[str]:
        return [line for log in self.logs if log.exists() for line in log.read_text().splitlines()]

    def kill_if_due(self) -> None:
        if len(self.lines()) < self.killed_every * (self.killed + 1):
            return
        number = self.killed % len(self.running)
        self.killed += 1
        if self.running[number].poll() is None:
            self.running[number].kill()
            self.running[number].communicate()
            self.running[number] = self._start(number)

    def stop(self) -> None:
        for process in self.running:
            process.kill()
            process.communicate()


@pytest.mark.slow
@BOTH
def test_routers_killed_again_and_again(file, url):
    """Spent + reserved within the budget at any look; each item that was closed is on the books, once."""
    workers, items = 4, 500
    budget = Budget(total=5.0 * workers * items / PER, items=workers * items)
    ledger = Ledger.open(url, budget)
    crew = Crew(file, url, workers, items, killed_every=150)
    try:
        while crew.busy():
            state = ledger.state()
            assert min(state.spent_nano, state.reserved_nano) >= 0
            assert state.spent_nano + state.reserved_nano <= state.money_nano
            crew.kill_if_due()
            time.sleep(0.01)
    finally:
        crew.stop()
    check_items(ledger, crew)
    ledger.close()


def check_items(ledger: Ledger, crew: Crew) -> None:
    lines = crew.lines()
    assert len(lines) == len(crew.running) * crew.items and crew.killed >= 10
    assert lines.count("refused") < 0.05 * len(lines)
    calls = defaultdict(list)
    for row in ledger.rows():
        calls[row["ticket"].split()[0]].append(row)
    closed = [line.split() for line in lines if line != "refused"]
    for key, cost, asked in closed:
        settled = [row for row in calls.pop(key) if row["state"] == "settled"]
        assert [row["service"] for row in settled] == asked.split(",")
        assert sum(row["cost"] for row in settled) == pytest.approx(float(cost))
    # What is left belongs to the items that a worker was killed at: one of each.
    assert len(calls) <= crew.killed
    assert all(row["state"] in ("reserved", "settled", "released") for rows in calls.values() for row in rows)


@pytest.mark.parametrize("database", ["purse", "sqlite"])
def test_a_clock_that_jumps_gives_no_day_s_money_twice(strategy, tmp_path, database):
    """The clock goes wrong by days, forwards and back, while items are routed."""
    now, chance = [20_000 * DAY], random.Random(3)
    budget, ask = Budget(per_day=0.03, items=8), Recorded(photos(300, 2, "new"))
    clock = lambda: now[0]  # noqa: E731
    money = (
        Purse(budget, clock)
        if database == "purse"
        else Ledger.open(f"sqlite:///{tmp_path}/l.db", budget, clock=clock)
    )
    router = Router(strategy, ledger=money, per=PER, plan=3.0, patience=Patience(timeout=None), clock=clock)
    spent, refused = Counter(), 0
    for hour, item in enumerate(ask.items()):
        now[0] = 20_000 * DAY + 3600.0 * hour + chance.choice([0.0] * 20 + [-3 * DAY, -DAY, DAY, 2 * DAY])
        try:
            result = router.run(item, ask)
        except OutOfMoney:
            refused += 1
            continue
        state = money.state()
        assert state.reserved_nano == 0 and state.spent_nano <= state.money_nano
        spent[state.start] += result.cost
    assert refused and len(spent) > 3
    # By the items' own accounts: no day that any clock has shown was paid for twice.
    assert max(spent.values()) <= 0.03 + 1e-9
    assert sum(spent.values()) == pytest.approx(money.state().all_spent)


FULL_DISK = """
import resource, sys
sys.path.insert(0, sys.argv[3])
from live_market import PRICES, Recorded, photos
from frugalmct import Budget, Router
from frugalmct.live import LedgerError
ask = Recorded(photos(300, 2, "new"))
router = Router(sys.argv[1], Budget(total=500, items=100_000), sys.argv[2], per=1000)
free = resource.RLIM_INFINITY
resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, free))
told, costs = 0, {}

def patiently(step, *arguments):
    '''The caller frees some space when the sentence says that there is none, and does the same again.'''
    global told
    try:
        return step(*arguments)
    except LedgerError as error:
        told += 1
        print(error)
        resource.setrlimit(resource.RLIMIT_FSIZE, (free, free))
        again = step(*arguments)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size(), free))
        return again

def size():
    import os
    names = [sys.argv[2].removeprefix("sqlite:///") + end for end in ("", "-wal")]
    return max(os.path.getsize(name) for name in names) + 50_000

items = list(ask.items())
while told < 6:
    for item in items:
        ticket = patiently(router.open, item)
        while ticket.ask:
            patiently(router.decide, ticket, {ticket.ask: ask(ticket.ask, item)})
        result = patiently(router.close, ticket)
        costs[ticket.key] = (result.cost, sum(PRICES[service] for service in result.asked) / 1000)
resource.setrlimit(resource.RLIMIT_FSIZE, (free, free))
state = router.money.state()
assert all(abs(cost - fair) < 1e-9 for cost, fair in costs.values())
assert abs(state.spent - sum(cost for cost, _ in costs.values())) < 1e-6 and state.reserved_nano == 0
assert state.items == len(costs), (state.items, len(costs))
router.shut()
"""


@pytest.mark.slow
def test_a_disk_that_is_full_for_a_while(file, tmp_path):
    """A limit on the size of files stands for the disk; each time the same step is tried again."""
    command = [sys.executable, "-c", FULL_DISK, file, f"sqlite:///{tmp_path}/l.db", HERE.parents[1]]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    told = done.stdout.splitlines()
    assert len(told) >= 6 and all("nothing of this call was recorded" in line for line in told)
