"""Several processes on one ledger, killed at any moment, with clocks that jump and disks that fill up."""

import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from frugalmct.live.budget import Budget
from frugalmct.live.ledger import Ledger
from frugalmct.live.money import NANO, cost_nano

if TYPE_CHECKING:
    from conftest import SmallDisk

pytest.importorskip("sqlalchemy", reason="the ledger needs SQLAlchemy: pip install 'frugalmct[live]'")

# Several processes against a server take minutes on a busy machine.
BOTH = pytest.mark.parametrize(
    "url",
    [
        "sqlite",
        pytest.param("postgresql", marks=[pytest.mark.slow, pytest.mark.xdist_group("postgresql")]),
    ],
    indirect=True,
)
WORKER = Path(__file__).with_name("ledger_worker.py")


class Crew:
    """Workers, each with its log."""

    def __init__(self, url: str, folder: Path, workers: int, items: int, clock: str = "right") -> None:
        self.url, self.items, self.clock = url, items, clock
        self.logs = [folder / f"worker{n}.log" for n in range(workers)]
        self.found = [0] * workers
        """What each log held when its worker was started."""
        self.running = [self._start(n) for n in range(workers)]
        self.killed = 0

    def _start(self, number: int) -> subprocess.Popen:
        self.found[number] = _size(self.logs[number])
        arguments = [self.url, self.logs[number], f"worker{number}", str(self.items), self.clock]
        return subprocess.Popen([sys.executable, WORKER, *arguments], stderr=subprocess.PIPE)

    def kill_one(self, chance: random.Random) -> None:
        """One of those at work, if any is: to kill who is only being started would show little."""
        at_work = [n for n, process in enumerate(self.running) if process.poll() is None and self._wrote(n)]
        if at_work:
            number = chance.choice(at_work)
            self.running[number].kill()
            self.running[number].communicate()
            self.killed += 1
            self.running[number] = self._start(number)

    def written(self) -> int:
        """How much the workers have done: bytes of their logs."""
        return sum(map(_size, self.logs))

    def _wrote(self, number: int) -> bool:
        return _size(self.logs[number]) > self.found[number]

    def busy(self) -> bool:
        for process in self.running:
            if process.poll() not in (None, 0):
                raise AssertionError(process.communicate()[1].decode())
        return any(process.poll() is None for process in self.running)

    def stop(self) -> None:
        for process in self.running:
            process.kill()
            process.communicate()

    def lines(self) -> list[str]:
        return [line for log in self.logs if log.exists() for line in log.read_text().splitlines()]


def _size(log: Path) -> int:
    return log.stat().st_size if log.exists() else 0


def check_books(ledger: Ledger, lines: list[str]) -> None:
    """The running totals against the calls, and both against what the workers wrote down."""
    rows = list(ledger.rows())
    by_id = {row["id"]: row for row in rows}
    assert len(by_id) == len(rows)
    for row in rows:
        assert row["amount"] >= 0 and (row["cost"] is None or 0 <= row["cost"] <= row["amount"])
    settled = [line.split() for line in lines if line != "refused"]
    assert max(Counter(key for key, _ in settled).values(), default=1) == 1
    for key, cost in settled:
        assert (by_id[key]["state"], by_id[key]["cost"]) == ("settled", float(cost))
    spent = sum(cost_nano("test", "cost", row["cost"] or 0) for row in rows)
    reserved = sum(cost_nano("test", "amount", row["amount"]) for row in rows if row["state"] == "reserved")
    state = ledger.state()
    assert state.all_spent_nano == spent
    if state.start == 0:
        assert (state.reserved_nano, state.items) == (reserved, len({row["ticket"] for row in rows}))


def watch(crew: Crew, ledger: Ledger, work: int) -> int:
    """Looks all the time, kills a worker whenever `work` bytes more are done; returns how often it looked."""
    chance, looks, kill_from = random.Random(1), 0, work
    while crew.busy():
        state = ledger.state()
        looks += 1
        assert state.spent_nano >= 0 and state.reserved_nano >= 0
        assert state.spent_nano + state.reserved_nano <= state.money_nano
        if crew.written() >= kill_from:
            crew.kill_one(chance)
            kill_from += work
        time.sleep(0.002)
    return looks


def run_crew(url: str, folder: Path, budget: Budget, *, workers: int, items: int, work: int) -> Crew:
    ledger = Ledger.open(url, budget)
    crew = Crew(url, folder, workers, items)
    try:
        assert watch(crew, ledger, work) > 10
    finally:
        crew.stop()
    lines = crew.lines()
    check_books(ledger, lines)
    assert len(lines) == workers * items
    return crew


@BOTH
def test_killed_workers_share_one_budget(url: str, tmp_path: Path) -> None:
    # Half of what the items would spend: the budget is reached, and must hold.
    budget = Budget(total=0.005 * 3 * 300 / 2, items=900)
    crew = run_crew(url, tmp_path, budget, workers=3, items=300, work=3_000)
    assert crew.killed >= 3
    assert "refused" in crew.lines()


@pytest.mark.slow
def test_killed_again_and_again(url: str, tmp_path: Path) -> None:
    """Four processes, 25,000 items each, of which one is killed and started again some sixty times."""
    budget = Budget(total=0.005 * 4 * 25_000 / 2, items=100_000)
    crew = run_crew(url, tmp_path, budget, workers=4, items=25_000, work=40_000)
    assert crew.killed >= 40


def run_with_jumping_clocks(url: str, folder: Path, workers: int, items: int, work: int) -> None:
    """A day's money is given at most once for every day that any clock has shown."""
    money = 0.0005 * workers * items
    ledger = Ledger.open(url, Budget(per_day=money))
    crew = Crew(url, folder, workers, items, clock="jumping")
    try:
        watch(crew, ledger, work=work)
    finally:
        crew.stop()
    check_books(ledger, crew.lines())
    assert len(crew.lines()) == workers * items and crew.killed
    by_period: Counter = Counter()
    for row in ledger.rows():
        held = row["amount"] if row["state"] == "reserved" else row["cost"]
        by_period[row["period"]] += cost_nano("test", "cost", held)
    assert by_period and max(by_period.values()) <= money * NANO
    # Days from yesterday's to that three days ahead, and one more should midnight pass.
    assert len(by_period) <= 5


@BOTH
def test_clocks_that_jump(url: str, tmp_path: Path) -> None:
    run_with_jumping_clocks(url, tmp_path, workers=2, items=400, work=5_000)


@pytest.mark.slow
def test_clocks_that_jump_again_and_again(url: str, tmp_path: Path) -> None:
    run_with_jumping_clocks(url, tmp_path, workers=4, items=25_000, work=200_000)


FULL_DISK = """
import resource, sys
from frugalmct.live.budget import Budget
from frugalmct.live.ledger import Ledger
from frugalmct.live.records import LedgerError
ledger = Ledger.open(sys.argv[1], Budget(total=100))
resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, resource.RLIM_INFINITY))
kept, open_ones = [], []
try:
    for number in range(100_000):
        reservation = ledger.reserve(0.001, "A", f"t{number}")
        open_ones.append(reservation)
        ledger.settle(reservation, 0.0005)
        kept.append(open_ones.pop().id)
except LedgerError as error:
    print(error)
for _ in range(3):
    try:
        ledger.reserve(0.001, "A", "another")
        raise SystemExit("the disk is not full")
    except LedgerError:
        pass
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
kept += [reservation.id for reservation in open_ones if ledger.settle(reservation, 0.0005)]
kept.append(ledger.reserve(0.001, "A", "afterwards").id)
rows = {row["id"]: row["state"] for row in ledger.rows()}
assert sorted(rows) == sorted(kept) and len(kept) > 20, (len(rows), len(kept))
assert ledger.state().spent_nano == 500_000 * (len(kept) - 1)
"""


def test_a_disk_that_is_full_for_a_while(tmp_path: Path) -> None:
    """A limit on the size of files stands for the disk: the write fails in the same place."""
    url = f"sqlite:///{tmp_path}/ledger.db"
    done = subprocess.run([sys.executable, "-c", FULL_DISK, url], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "could not write to its disk" in done.stdout and "nothing of this call was recorded" in done.stdout
    assert len(done.stdout.splitlines()) == 1


def run_on_a_small_disk(disk: "SmallDisk", folder: Path, workers: int, items: int, space: int) -> None:
    ledger = Ledger.open(disk.url, Budget(total=items * workers))
    disk.leave(space)
    crew = Crew(disk.url, folder, workers, items)
    try:
        done, since = -1, time.monotonic()
        while crew.busy() and time.monotonic() - since < 3:
            if done != crew.written() or disk.space() > 300_000:
                done, since = crew.written(), time.monotonic()
            time.sleep(0.1)
        assert crew.busy(), "the disk never filled up"
        disk.free()
        while crew.busy():
            time.sleep(0.05)
    finally:
        crew.stop()
    assert 0 < done < crew.written() and len(crew.lines()) == workers * items
    check_books(ledger, crew.lines())
    ledger.close()


def test_workers_go_on_when_the_disk_has_space_again(small_disk: "SmallDisk", tmp_path: Path) -> None:
    run_on_a_small_disk(small_disk, tmp_path, workers=2, items=1_000, space=500_000)


@pytest.mark.slow
def test_many_go_on_when_the_disk_has_space_again(small_disk: "SmallDisk", tmp_path: Path) -> None:
    run_on_a_small_disk(small_disk, tmp_path, workers=4, items=25_000, space=20_000_000)
