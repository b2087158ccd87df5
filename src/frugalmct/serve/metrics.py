"""Counts of requests, and metrics in Prometheus' text format."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping

from frugalmct.live.traffic import Health
from frugalmct.serve.desk import Desk

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
PATHS = ("/open", "/decide", "/close", "/feedback", "/health", "/metrics", "/status")
BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0)
"""Seconds: upper bounds of the histogram's classes."""

Sample = tuple[Mapping[str, str], float]


class Requests:
    """How many there were, how they ended and how long they took, by path."""

    def __init__(self) -> None:
        self.counts: Counter[tuple[str, int]] = Counter()
        self.classes = {path: [0] * (len(BOUNDS) + 1) for path in (*PATHS, "other")}
        self.seconds = dict.fromkeys(self.classes, 0.0)

    def add(self, path: str, status: int, seconds: float) -> None:
        place = path if path in self.classes else "other"
        self.counts[place, status] += 1
        self.classes[place][bisect_left(BOUNDS, seconds)] += 1
        self.seconds[place] += seconds

    def samples(self) -> Iterable[str]:
        yield from _family(
            "frugalmct_requests_total",
            "counter",
            "Requests by path and status.",
            [({"path": path, "status": str(code)}, n) for (path, code), n in sorted(self.counts.items())],
        )
        name = "frugalmct_request_seconds"
        yield f"# HELP {name} Time of a request, from its first byte to the end of its reply."
        yield f"# TYPE {name} histogram"
        for path, classes in self.classes.items():
            if not any(classes):
                continue
            so_far = 0
            for bound, count in zip((*map(str, BOUNDS), "+Inf"), classes, strict=True):
                so_far += count
                yield _line(f"{name}_bucket", {"path": path, "le": bound}, so_far)
            yield _line(f"{name}_sum", {"path": path}, self.seconds[path])
            yield _line(f"{name}_count", {"path": path}, so_far)


def metrics(health: Health, desk: Desk, requests: Requests) -> str:
    """Everything, as text. Money is in the unit of the budget."""
    drift = health.drift
    accuracy = {
        "promised": drift.promised,
        "expected": drift.expected if drift.items else None,
        "reached": drift.reached if drift.judged else None,
    }
    money = {"all": health.money, "spent": health.spent, "reserved": health.reserved, "left": health.left}
    named = [({"kind": kind}, value) for kind, value in money.items()]
    known = [({"kind": kind}, value) for kind, value in accuracy.items() if value is not None]
    asked = [({"service": name}, count) for name, count in sorted(desk.asked.items())]
    failed = [({"service": name}, count) for name, count in sorted(desk.failed.items())]
    out = [({"service": name}, float(name in health.left_out)) for name in desk.router.strategy.services]
    gap: list[Sample] = [({}, drift.gap)] if drift.items else []
    alone: list[Sample] = [({}, health.items)]
    families: list[tuple[str, str, str, Iterable[Sample]]] = [
        ("frugalmct_money", "gauge", "Money of the period, in the unit of the budget.", named),
        ("frugalmct_items", "gauge", "Items of the period, of all processes.", alone),
        ("frugalmct_accuracy", "gauge", "Promised by training, expected now, reached by feedback.", known),
        ("frugalmct_accuracy_gap", "gauge", "Accuracy expected now less that promised.", gap),
        ("frugalmct_drifted", "gauge", "1 if the traffic has drifted.", [({}, float(drift.drifted))]),
        ("frugalmct_warnings", "gauge", "Warnings of /health.", [({}, len(health.warnings))]),
        ("frugalmct_dual_price", "gauge", "Dual price of the moment.", [({}, health.dual_price)]),
        ("frugalmct_planned_dual_price", "gauge", "The plan's.", [({}, health.planned_dual_price)]),
        ("frugalmct_left_out", "gauge", "1 if a service fails too often to be asked.", out),
        ("frugalmct_tickets_open", "gauge", "Tickets open at this server.", [({}, len(desk))]),
        ("frugalmct_closed_total", "counter", "Items closed at this server.", [({}, desk.items)]),
        ("frugalmct_cost_total", "counter", "What these items cost.", [({}, desk.cost)]),
        ("frugalmct_asked_total", "counter", "Calls answered, by service.", asked),
        ("frugalmct_failed_total", "counter", "Calls failed, by service.", failed),
    ]
    lines = [line for family in families for line in _family(*family)]
    return "\n".join([*lines, *requests.samples()]) + "\n"


def _family(name: str, kind: str, about: str, samples: Iterable[Sample]) -> Iterable[str]:
    yield f"# HELP {name} {about}"
    yield f"# TYPE {name} {kind}"
    for labels, value in samples:
        yield _line(name, labels, value)


def _line(name: str, labels: Mapping[str, str], value: float) -> str:
    inside = ",".join(f'{key}="{_escaped(text)}"' for key, text in labels.items())
    return f"{name}{{{inside}}} {value}" if inside else f"{name} {value}"


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
