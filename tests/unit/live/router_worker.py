"""A process that routes items on a shared ledger; started, killed and started again by the tests.

    python router_worker.py STRATEGY URL LOG NAME ITEMS

Every item that was closed is a line of LOG, `ticket cost services`, written before the next item: the tests'
own evidence, beside the ledger's books. A worker that was killed goes on where its log ends.
"""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))  # for live_market

from live_market import answer_of, photos

from frugalmct import Router
from frugalmct.live import OutOfMoney

PER = 1000


def main(strategy: str, url: str, log: str, name: str, items: int) -> None:
    path = Path(log)
    done = len(path.read_text().splitlines()) if path.exists() else 0
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    market = photos(300, 2, "new")
    with Router(strategy, None, url, per=PER) as router:
        for number in range(done, items):
            row = number % len(market)
            try:
                ticket = router.open({"id": f"{name}-{number}"})
            except OutOfMoney:
                os.write(handle, b"refused\n")
                continue
            while ticket.ask:
                router.decide(ticket, {ticket.ask: answer_of(market, ticket.ask, row)})
            result = router.close(ticket)
            key = ticket.key.split()[0]
            os.write(handle, f"{key} {result.cost!r} {','.join(result.asked)}\n".encode())


if __name__ == "__main__":
    main(*sys.argv[1:5], int(sys.argv[5]))
