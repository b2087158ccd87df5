"""Live traffic against services that fail now and then: python examples/live/loop.py"""

import json
import random
import tempfile
from pathlib import Path

from frugalmct import Budget, Router, Strategy
from frugalmct.live import Patience
from frugalmct.sources.jsonl import read_jsonl

TICKETS = Path(__file__).parents[1] / "own-data" / "tickets.jsonl"
PRICES = {"Keyword": 0.1, "Tagger": 4, "Expert": 20}  # USD per 10,000 calls
lines = [json.loads(line) for line in TICKETS.read_text(encoding="utf-8").splitlines()]
dice = random.Random(1)


def ask(service: str, item: dict) -> list:
    """In your program: the client of the service."""
    if dice.random() < 0.05:
        raise ConnectionError("the service is away")
    return item["predictions"][service]


with tempfile.TemporaryDirectory() as folder:
    market = read_jsonl(TICKETS, PRICES)
    strategy = Strategy.fit(market.subset(range(len(lines) // 2)), budgets=[8], base="Keyword")
    live = lines[len(lines) // 2 :]
    budget = Budget(total=8 * len(live) / 10_000, items=len(live))
    with Router(
        strategy, budget, f"sqlite:///{folder}/ledger.db", per=10_000, patience=Patience(wait=0)
    ) as router:
        for item in live:
            result = router.run(item, ask)
            router.feedback(result.id, item["truth"])
        health = router.health()
print(f"{health.items} tickets for {health.spent:.4f} of {health.money:.4f} USD")
print(f"accuracy {health.drift.reached:.3f}; {health.drift}")
