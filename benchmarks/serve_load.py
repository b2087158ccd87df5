"""A client that keeps a `frugalmct serve` on this machine busy, and the figures of it.

It speaks HTTP over a few connections of its own, each sending its next request as soon as it has the reply to
the last: as lean as can be, since client and server share the machine.
"""

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Sequence

import numpy as np

HEAD = "POST {} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n"


class Caller:
    """One connection."""

    def __init__(self, port: int, answers: Sequence, services: Sequence[str]) -> None:
        self.port, self.answers, self.services = port, answers, list(services)
        self.seconds: list[float] = []
        self.items = 0
        self.cost = 0.0
        self.refused = 0

    async def work(self, rows: range, until: float) -> None:
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
        while time.perf_counter() < until:
            for row in rows:
                await self._item(row)
                if time.perf_counter() >= until:
                    break
        self.writer.close()

    async def _item(self, row: int) -> None:
        step = await self._post("/open", {"id": str(row)})
        if "error" in step:
            self.refused += 1
            return
        while step["ask"]:
            answer = self.answers[self.services.index(step["ask"])][row]
            step = await self._post("/decide", {"ticket": step["ticket"], "answers": {step["ask"]: answer}})
        self.cost += (await self._post("/close", {"ticket": step["ticket"]}))["cost"]
        self.items += 1

    async def _post(self, path: str, value: dict) -> dict:
        body = json.dumps(value)
        started = time.perf_counter()
        self.writer.write((HEAD.format(path, len(body)) + body).encode())
        head = (await self.reader.readuntil(b"\r\n\r\n")).lower()
        length = int(head.partition(b"content-length:")[2].partition(b"\r\n")[0])
        reply = json.loads(await self.reader.readexactly(length))
        self.seconds.append(time.perf_counter() - started)
        if not head.startswith((b"http/1.1 200", b"http/1.1 402")):
            raise SystemExit(f"The server answered {path} with {reply}")
        return reply


async def _keep_busy(callers: list[Caller], items: int, seconds: float) -> float:
    started = time.perf_counter()
    until = started + seconds
    parts = [range(number, items, len(callers)) for number in range(len(callers))]
    await asyncio.gather(*(caller.work(rows, until) for caller, rows in zip(callers, parts, strict=True)))
    return time.perf_counter() - started


def processor_seconds(pid: int) -> float:
    """Of a process that is still running; NaN where the system does not tell."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as handle:  # noqa: PTH123
            fields = handle.read().rpartition(")")[2].split()
    except OSError:
        return float("nan")
    return (int(fields[11]) + int(fields[12])) / 100


def load(
    command: list[str], answers: Sequence, services: Sequence[str], seconds: float, connections: int
) -> tuple[dict[str, object], float]:
    """A server of that command kept busy for so long: its row of the table, and what the items cost."""
    process = subprocess.Popen(
        [sys.executable, "-m", "frugalmct", "serve", *command, "--port", "0", "--json"],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        port = int(json.loads(process.stdout.readline())["url"].rpartition(":")[2])
        callers = [Caller(port, answers, services) for _ in range(connections)]
        before = processor_seconds(process.pid)
        wall = asyncio.run(_keep_busy(callers, len(answers[0]), seconds))
        busy = processor_seconds(process.pid) - before
    finally:
        process.terminate()
        process.wait()
    taken = np.concatenate([caller.seconds for caller in callers]) * 1e3
    p50, p99 = np.percentile(taken, [50, 99])
    row = {
        "work": f"serve, request ({connections} connections, {seconds:g} s)",
        "processes": 1,
        "items": sum(caller.items for caller in callers),
        "items_per_second": round(sum(caller.items for caller in callers) / wall),
        "requests_per_second": round(len(taken) / wall),
        "p50_ms": round(float(p50), 3),
        "p99_ms": round(float(p99), 3),
        "processor_ms": round(1e3 * busy / len(taken), 3),
        "refused": sum(caller.refused for caller in callers),
    }
    return row, sum(caller.cost for caller in callers)
