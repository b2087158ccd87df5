"""From recorded prompts to a live router: python examples/llm-routing/route.py"""

import json
import tempfile
from pathlib import Path

from frugalmct import Strategy
from frugalmct.live import Budget, Call, PerCallRouter
from frugalmct.sources.jsonl import read_jsonl

PROMPTS = Path(__file__).with_name("prompts.jsonl")
records = [json.loads(line) for line in PROMPTS.read_text(encoding="utf-8").splitlines()]
by_id = {record["id"]: record for record in records}


def ask(model: str, item: dict) -> Call:
    """In your program: the client of the model. Here the recorded call is played back."""
    record = by_id[item["id"]]
    sure = record["answer_features"].get(model)
    return Call(answer=f"what {model} said", cost=record["costs"][model], features=sure)


market = read_jsonl(PROMPTS)
train, new = market.subset(range(400)), market.subset(range(400, 600))
strategy = Strategy.fit(train, budgets=[0.2, 0.5, 1.0])
for budget in strategy.plans:
    found = strategy.evaluate(new, budget)
    print(f"budget {budget:g}: quality {found.accuracy:.3f} at a cost of {found.cost:.3f}")

with tempfile.TemporaryDirectory() as folder:
    strategy.save(f"{folder}/strategy.npz")
    money = Budget(total=0.5 * len(new) / 1000, items=len(new))  # costs are USD per 1,000 prompts
    router = PerCallRouter(f"{folder}/strategy.npz", money, f"sqlite:///{folder}/ledger.db", per=1000)
    results = [router.run({"id": str(id), "text": by_id[id]["text"]}, ask) for id in new.items]
    state = router.money.state()
    router.shut()
quality = sum(by_id[result.id]["quality"][result.service] for result in results) / len(results)
print(f"live: quality {quality:.3f}; {state.spent:.4f} of {state.money:.4f} USD for {state.items} prompts")
