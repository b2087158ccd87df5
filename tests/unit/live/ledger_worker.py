"""A process that spends from a shared ledger; started, killed and started again by the tests.

    python ledger_worker.py URL LOG NAME ITEMS

Every call that the ledger says is settled, and every refusal, is a line of LOG, written before the next call:
the tests' own evidence, beside the ledger's books. A worker that was killed goes on where its log ends.
"""

import os
import random
import sys
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path

from frugalmct.live.ledger import Ledger
from frugalmct.live.records import LedgerError

JUMPS = (0.0, 0.0, 0.0, -90_000.0, 40_000.0, 200_000.0)


def jumping_clock() -> Callable[[], float]:
    """Wrong by days, another way after every fifty looks."""
    looks = count(os.getpid())
    return lambda: time.time() + random.Random(next(looks) // 50).choice(JUMPS)


def patiently(action, *arguments):
    """Tries again while the ledger cannot be written."""
    while True:
        try:
            return action(*arguments)
        except LedgerError as error:
            if "try again" not in str(error):
                raise
            time.sleep(0.02)


def main(url: str, log: str, name: str, items: int, clock: str = "right") -> None:
    path = Path(log)
    done = len(path.read_text().splitlines()) if path.exists() else 0
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    chance = random.Random(f"{name}-{done}")
    ledger = patiently(lambda: Ledger.open(url, clock=jumping_clock() if clock == "jumping" else time.time))
    for number in range(done, items):
        amount = round(chance.uniform(0.001, 0.02), 6)
        reservation = patiently(ledger.reserve, amount, chance.choice("ABC"), f"{name}-{number}")
        line = "refused"
        if reservation is not None:
            cost = patiently(ledger.settle, reservation, round(amount * chance.random(), 6))
            line = f"{reservation.id} {cost!r}"
        os.write(handle, f"{line}\n".encode())


if __name__ == "__main__":
    main(*sys.argv[1:4], int(sys.argv[4]), *sys.argv[5:])
