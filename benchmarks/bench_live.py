"""The ledger, the router and `frugalmct serve` under load: time of an item, items and requests a second.

    python benchmarks/bench_live.py [--quick] [--processes 4] [--seconds 60]
                                    [--url postgresql://user@host/database]

Each item reserves and settles its base, and two in five an add-on as well, with money settled and reserved in
one step where a router would. Then routers of both methods decide for simulated photos, with no ledger and
with one: the time of `decide` once the base has answered, of the whole item, services apart, and of `decide`
once an add-on has (of plus it may name one more); then several processes with a router each share one ledger
(`processor_ms`: what an item takes of a core, or a request of the server's). At last a server on this machine
is kept busy by this process, and its money is counted. Writes results/bench/live.csv. Without --url the
ledger is a new SQLite file.
"""

import argparse
import csv
import multiprocessing
import tempfile
import time
from pathlib import Path

import numpy as np
import yaml
from serve_load import load

from frugalmct.live.budget import Budget
from frugalmct.live.ledger import Ledger
from frugalmct.live.records import Wish
from frugalmct.live.router import Router
from frugalmct.made import METHODS, PLUS
from frugalmct.market import LabelMarket, Market
from frugalmct.paper.config import validate
from frugalmct.sources import load_market
from frugalmct.splits import split
from frugalmct.strategy import Strategy

PROJECT = Path(__file__).parents[1]
OUTPUT = Path("results/bench/live.csv")
BUDGET = Budget(total=1_000_000, items=1_000_000)
BASE, ADDON = 0.006, 0.015
# More items than a server answers: one whose money has ended has less to do.
MOST_PER_SECOND = 5_000


def reserve_and_settle(url: str, name: str, items: int) -> list[float]:
    """The plainest use: seconds of each item's one call."""
    seconds = []
    with Ledger.open(url, BUDGET) as ledger:
        for number in range(items):
            started = time.perf_counter()
            ledger.settle(ledger.reserve(BASE, "base", f"{name}-{number}"), BASE)
            seconds.append(time.perf_counter() - started)
    return seconds


def like_a_router(url: str, name: str, items: int) -> list[float]:
    """Base for every item, an add-on for two in five: two or three transactions an item."""
    seconds = []
    with Ledger.open(url, BUDGET) as ledger:
        for number in range(items):
            started = time.perf_counter()
            ticket = f"{name}-{number}"
            base = ledger.reserve(BASE, "base", ticket)
            if number % 5 < 2:
                (addon,) = ledger.exchange(settle=[(base, BASE)], reserve=[Wish(ADDON, "add-on", ticket)])
                ledger.settle(addon, ADDON)
            else:
                ledger.settle(base, BASE)
            seconds.append(time.perf_counter() - started)
    return seconds


WORK = {"reserve + settle": reserve_and_settle, "base and add-on": like_a_router}


def _work(task: tuple[str, str, str, int], gate, results) -> None:
    kind, url, name, items = task
    gate.wait()
    started = time.time()
    seconds = WORK[kind](url, name, items)
    results.put((started, time.time(), seconds))


def measure(kind: str, url: str, processes: int, items: int) -> dict[str, object]:
    """`items` of each process, all at once; the clock runs from the first start to the last end."""
    Ledger.open(url, BUDGET).close()
    context = multiprocessing.get_context("spawn")
    gate, results = context.Barrier(processes), context.Queue()
    run = f"{kind}-{processes}-{time.time_ns()}"
    workers = [
        context.Process(target=_work, args=((kind, url, f"{run}-{n}", items), gate, results))
        for n in range(processes)
    ]
    for worker in workers:
        worker.start()
    collected = [results.get() for _ in workers]
    for worker in workers:
        worker.join()
    wall = max(end for _, end, _ in collected) - min(start for start, _, _ in collected)
    p50, p99 = np.percentile(np.concatenate([seconds for _, _, seconds in collected]) * 1e3, [50, 99])
    return {
        "database": url.partition(":")[0],
        "work": kind,
        "processes": processes,
        "items": processes * items,
        "items_per_second": round(processes * items / wall),
        "p50_ms": round(float(p50), 3),
        "p99_ms": round(float(p99), 3),
    }


def plain_answers(market: LabelMarket) -> list[list[list]]:
    """Of each service, what a client gets for each item."""
    names = market.labels.tolist()
    return [
        [
            [[names[label], float(score)] for label, score in zip(labels, scores, strict=True)]
            for labels, scores in (
                (matrix.indices[a:b], matrix.data[a:b])
                for a, b in zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True)
            )
        ]
        for matrix in market.scores
    ]


def prepare(folder: Path, items: int) -> None:
    """Strategies of both methods and their traffic, as files: processes read them as a service would."""
    config = validate(yaml.safe_load((PROJECT / "config.yaml").read_text(encoding="utf-8")))
    market = load_market("PASCAL", config["datasets"]["PASCAL"], seed=config["seed"])
    parts = split(len(market), seed=1)
    for method in METHODS:
        fitted = Strategy.fit(market.subset(parts.whole_train), [8], method=method, base="SSD")
        fitted.save(folder / f"{method}.npz")
    market.subset(parts.test[:items]).save(folder / "traffic.npz")


def traffic_of(folder: Path) -> tuple[list[list[list]], int]:
    traffic = Market.load(folder / "traffic.npz")
    return plain_answers(traffic), len(traffic)


def measure_router(method: str, folder: Path, url: str | None) -> list[dict[str, object]]:
    """One process."""
    answers, items = traffic_of(folder)
    router = Router(folder / f"{method}.npz", Budget(total=8 * items, items=items), url)
    services = router.strategy.services
    decide, further, whole, cpu = [], [], [], []
    for row in range(items):
        started, first = time.perf_counter(), True
        ticket = router.open({"id": str(row)})
        while ticket.ask:
            answer = {ticket.ask: answers[services.index(ticket.ask)][row]}
            before, busy = time.perf_counter(), time.thread_time()
            router.decide(ticket, answer)
            (decide if first else further).append(time.perf_counter() - before)
            if first:
                cpu.append(time.thread_time() - busy)
            first = False
        router.close(ticket)
        whole.append(time.perf_counter() - started)
    router.shut()
    database = "none" if url is None else url.partition(":")[0]
    kinds = {"decide": decide, "decide, processor time": cpu, "decide further": further, "item": whole}
    return [
        _router_row(database, f"router of {method}, {kind}", seconds)
        for kind, seconds in kinds.items()
        if seconds
    ]


def _route(folder: Path, url: str, within: float, worker: int, workers: int, gate, results) -> None:
    answers, items = traffic_of(folder)
    ledger = Ledger.open(url, Budget(total=8 * items, items=items), settle_within=within)
    with Router(folder / f"{PLUS}.npz", ledger=ledger) as router:
        services = router.strategy.services
        gate.wait()
        started, busy, seconds = time.time(), time.process_time(), []
        for row in range(worker, items, workers):
            before = time.perf_counter()
            ticket = router.open({"id": str(row)})
            while ticket.ask:
                router.decide(ticket, {ticket.ask: answers[services.index(ticket.ask)][row]})
            router.close(ticket)
            seconds.append(time.perf_counter() - before)
        results.put((started, time.time(), seconds, time.process_time() - busy))


def measure_routers(folder: Path, url: str, processes: int, within: float = 0.0) -> dict[str, object]:
    """Several processes share the items and one ledger; timed from the first start to the last end.

    within: seconds that a settlement may wait for the process's next step.
    """
    context = multiprocessing.get_context("spawn")
    gate, results = context.Barrier(processes), context.Queue()
    workers = [
        context.Process(target=_route, args=(folder, url, within, worker, processes, gate, results))
        for worker in range(processes)
    ]
    for worker in workers:
        worker.start()
    collected = [results.get() for _ in workers]
    for worker in workers:
        worker.join()
    starts, ends, parts, busy = zip(*collected, strict=True)
    seconds = [second for own in parts for second in own]
    kind = "router, item, settled with the next one" if within else "router, item"
    row = _router_row(url.partition(":")[0], kind, seconds)
    return row | {
        "processes": processes,
        "items_per_second": round(len(seconds) / (max(ends) - min(starts))),
        "processor_ms": round(1e3 * sum(busy) / len(seconds), 3),
    }


def measure_serve(folder: Path, url: str, seconds: float) -> dict[str, object]:
    """Whether the books agree with what the client was charged is checked, not measured."""
    answers, _ = traffic_of(folder)
    services = Strategy.load(folder / f"{PLUS}.npz").services
    expected = round(MOST_PER_SECOND * seconds)
    command = [str(folder / f"{PLUS}.npz"), "--ledger", url, "--total", str(8 * expected)]
    row, cost = load([*command, "--items", str(expected)], answers, services, seconds, connections=8)
    with Ledger.open(url) as ledger:
        state = ledger.state()
    if state.spent_nano + state.reserved_nano > state.money_nano or abs(state.spent - cost) > 1e-6 * cost:
        raise SystemExit(f"The budget did not hold: {state}, and the items cost {cost}")
    return {"database": url.partition(":")[0]} | row


def _router_row(database: str, kind: str, seconds: list[float]) -> dict[str, object]:
    p50, p99 = np.percentile(np.array(seconds) * 1e3, [50, 99])
    return {
        "database": database,
        "work": kind,
        "processes": 1,
        "items": len(seconds),
        "items_per_second": round(len(seconds) / sum(seconds)),
        "p50_ms": round(float(p50), 3),
        "p99_ms": round(float(p99), 3),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="fewer items")
    parser.add_argument("--routers", action="store_true", help="routers alone, not the bare ledger")
    parser.add_argument("--processes", type=int, default=4)
    parser.add_argument("--seconds", type=float, help="how long the server is kept busy (60)")
    parser.add_argument("--url", help="a database to use instead of a new SQLite file")
    options = parser.parse_args()
    items = 1000 if options.quick else 5_000
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        url = options.url or f"sqlite:///{folder}/ledger.db"
        counts = () if options.routers else (1, options.processes)
        rows = [measure(kind, url, n, items) for kind in WORK for n in counts]
        prepare(folder, items)
        for method in METHODS:
            rows += measure_router(method, folder, None)
            if options.url is None:
                rows += measure_router(method, folder, f"sqlite:///{folder}/{method}.db")
        if options.url is None and not options.routers:
            for within in (0.0, 0.5):
                file = f"sqlite:///{folder}/routers{within:g}.db"
                rows.append(measure_routers(folder, file, options.processes, within))
            seconds = options.seconds or (5.0 if options.quick else 60.0)
            rows.append(measure_serve(folder, f"sqlite:///{folder}/serve.db", seconds))
    OUTPUT.parent.mkdir(parents=True, exist_ok=True)
    with OUTPUT.open("w", encoding="utf-8", newline="") as handle:
        columns = list(dict.fromkeys(name for row in rows for name in row))
        table = csv.DictWriter(handle, columns, lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
    for row in rows:
        print("  ".join(f"{name}: {value}" for name, value in row.items()))


if __name__ == "__main__":
    main()
