"""Makes tickets.jsonl: what three imaginary services say that support tickets are about.

Nothing here is real. The services differ as such services do: the cheap one misses topics and says so by its
scores, each has topics that it knows well or badly, and the dear one is not the best at everything.

    python make_tickets.py tickets.jsonl
"""

import json
import random
import sys
from pathlib import Path

ITEMS = 600
TOPICS = (
    "billing",
    "login",
    "refund",
    "delivery",
    "warranty",
    "privacy",
    "outage",
    "upgrade",
    "invoice",
    "spam",
)
# How often a true topic is found on an easy ticket, how much a hard one takes from that, and false topics.
SERVICES = {"Keyword": (0.9, 0.75, 0.25), "Tagger": (0.92, 0.45, 0.12), "Expert": (0.97, 0.3, 0.06)}
# Topics that a service is half blind for.
BLIND = {"Keyword": {"privacy", "outage"}, "Tagger": {"warranty", "invoice"}, "Expert": {"spam"}}


def answer(rng: random.Random, service: str, truth: list[str], hardness: float) -> list[list]:
    """Topics with scores: surer where they are right and the ticket is easy."""
    found, lost, false = SERVICES[service]
    given = {}
    for topic in truth:
        chance = (found - lost * hardness) * (0.5 if topic in BLIND[service] else 1)
        if rng.random() < chance:
            given[topic] = rng.uniform(0.55, 0.99) - 0.35 * hardness
    if rng.random() < false + 0.3 * hardness:
        given.setdefault(rng.choice(TOPICS), rng.uniform(0.1, 0.6))
    return [[topic, round(score, 3)] for topic, score in given.items()]


def tickets(seed: int = 1) -> list[dict]:
    rng = random.Random(seed)
    records = []
    for number in range(ITEMS):
        truth = rng.sample(TOPICS, rng.choice((1, 1, 2, 3)))
        hardness = rng.random() ** 2
        predictions = {service: answer(rng, service, truth, hardness) for service in SERVICES}
        records.append({"id": f"ticket-{number:03}", "truth": truth, "predictions": predictions})
    return records


if __name__ == "__main__":
    lines = (json.dumps(record) + "\n" for record in tickets())
    Path(sys.argv[1]).write_text("".join(lines), encoding="utf-8")
