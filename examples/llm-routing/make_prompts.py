"""Makes prompts.jsonl: made-up prompts, four made-up models, what their answers were worth and cost.

Run it with `python examples/llm-routing/make_prompts.py`; the same file comes out every time.
"""

import json
import random
from pathlib import Path

MODELS = {  # USD per million tokens, skill
    "nano": (0.1, 0.9),
    "small": (0.4, 1.6),
    "medium": (2.0, 2.4),
    "large": (10.0, 3.4),
}
KINDS = {  # how hard, how many tokens an answer has, and what a prompt looks like
    "chat": (0.0, 150, "Write a {adjective} note to my {person} about the {thing}."),
    "facts": (1.0, 120, "In which year was the {adjective} {thing} of {place} built, and by whom?"),
    "sums": (1.6, 150, "A {person} buys {a} {thing}s at {b} dollars and sells {c} of them. What is left?"),
    "code": (
        2.0,
        180,
        "def count_{thing}s(items): # how many of {a} items are {adjective}, in O({b})",
    ),
    "proof": (
        2.6,
        200,
        "Prove that the sum of {a} {adjective} numbers is divisible by {b} if n > {c}.",
    ),
}
WORDS = {
    "adjective": ["kind", "short", "old", "red", "quiet", "prime"],
    "person": ["aunt", "baker", "pilot", "teacher"],
    "thing": ["bridge", "apple", "tower", "letter", "boat"],
    "place": ["Lyon", "Oslo", "Quito", "Hanoi"],
}
PROMPTS = 600


def prompts() -> list[dict]:
    dice = random.Random(7)
    return [prompt(number, dice) for number in range(PROMPTS)]


def prompt(number: int, dice: random.Random) -> dict:
    kind = dice.choice(list(KINDS))
    hardness, length, form = KINDS[kind]
    words = {name: dice.choice(choices) for name, choices in WORDS.items()}
    numbers = {name: dice.randint(2, 99) for name in "abc"}
    hardness += dice.gauss(0, 0.3)
    quality, costs, sure = {}, {}, {}
    for model, (price, skill) in MODELS.items():
        right = 1 / (1 + 2.718 ** (4 * (hardness - skill)))
        quality[model] = float(dice.random() < right)
        tokens = max(int(dice.gauss(length, length / 4)), 5)
        costs[model] = round(price * tokens / 1000, 5)  # USD per 1,000 prompts
        # How often the model gives the same answer again: known once it was asked.
        sure[model] = [round(min(max(dice.gauss(0.3 + 0.5 * quality[model], 0.2), 0), 1), 2)]
    return {
        "id": f"prompt-{number:03}",
        "text": form.format(**words, **numbers),
        "quality": quality,
        "costs": costs,
        "answer_features": {"nano": sure["nano"]},
    }


if __name__ == "__main__":
    path = Path(__file__).with_name("prompts.jsonl")
    path.write_text("".join(json.dumps(record) + "\n" for record in prompts()), encoding="utf-8")
