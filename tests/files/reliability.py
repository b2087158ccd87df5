"""The table in docs/reliability.md, from the tests' own numbers of cases.

    python tests/files/reliability.py        # writes the table anew

A test compares the page with what this would write.
"""

import json
import random
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
TESTS = ("tests/files", "tests/unit", "tests/unit/paper", "tests/unit/paper/jobs", "tests/e2e")
sys.path[:0] = [str(ROOT / folder) for folder in ("src", "tests", *TESTS)]

import test_array_fuzz  # noqa: E402
import test_array_holes  # noqa: E402
import test_commands  # noqa: E402
import test_data_content  # noqa: E402
import test_half_written  # noqa: E402
import test_jsonl_fuzz  # noqa: E402
import test_names_are_names  # noqa: E402
import test_results_to_trust  # noqa: E402
from array_damage import DAMAGES  # noqa: E402
from array_originals import KINDS  # noqa: E402

from frugalmct.paper.exhibits.registry import all_exhibits  # noqa: E402

PAGE = ROOT / "docs" / "reliability.md"
START, END = "<!-- the table: python tests/files/reliability.py -->\n", "<!-- end of the table -->\n"

EITHER = "loads exactly what it holds, or one sentence names the file, the fault and the remedy"
REFUSED = "refused in one sentence"
NOTHING_RUN = "refused, and nothing is run"
SMALL = f"no crash, never more than {test_array_fuzz.MOST_MIB:,} MiB"


def rows() -> list[tuple[str, int, str]]:
    """What is tried, in how many cases, and what must hold."""
    kinds, files = len(KINDS), test_array_fuzz.FILES
    campaign = len(test_array_fuzz.SEEDS) * test_array_fuzz.MORE_FILES * kinds * len(DAMAGES)
    types = len(test_array_holes.TYPES) * len(test_array_holes.ARRAYS)
    return [
        *(
            (f"array files ({kinds} kinds): {damage}", kinds * files, f"{EITHER}; {SMALL}")
            for damage in DAMAGES
        ),
        ("the same with other seeds (slow tests)", campaign, "the same"),
        ("strategies whose parts do not belong together", len(test_array_holes.STRATEGIES), REFUSED),
        ("arrays of complex numbers, dates, text and others", types, REFUSED),
        ("lines of recorded answers, damaged", _lines(), "read, or each problem with its line number"),
        ("addresses that git could take for a command", len(test_commands.hostile(Path("x"))), NOTHING_RUN),
        *_runs(),
    ]


def _runs() -> list[tuple[str, int, str]]:
    """What is tried on a run's results, and on names."""
    names, exhibits = test_names_are_names.NAMES, all_exhibits()
    replaced = len(test_data_content.WAYS) * len(test_data_content.TIMES)
    repaired = "the command in the message repairs it, to the same bytes"
    return [
        (
            "data files replaced, by copy and by rename, of any date",
            replaced,
            "what is made of them is re-run",
        ),
        ("results of a run, cut short", len(test_results_to_trust.RESULTS), repaired),
        ("a user's files beside what a killed run left", len(test_half_written.OTHERS), "they stay"),
        (
            "names that look like numbers, flags, nothing or formulas, in every table",
            len(names) * len(exhibits),
            "the same text in the file, read back, and in the report",
        ),
    ]


def _lines() -> int:
    valid = json.dumps(test_jsonl_fuzz.VALID).encode()
    damages = [*test_jsonl_fuzz.OF_BYTES, *test_jsonl_fuzz.OF_VALUES]
    return sum(sum(1 for _ in damage(valid, random.Random(damage.__name__))) for damage in damages)


def table() -> str:
    lines = ["| what is tried | cases | what must hold |", "|---|---:|---|"]
    return "\n".join([*lines, *(f"| {what} | {count:,} | {holds} |" for what, count, holds in rows())]) + "\n"


def page_with(text: str) -> str:
    """The page with this table in the place of its own."""
    page = PAGE.read_text(encoding="utf-8")
    pattern = re.compile(f"{re.escape(START)}.*?{re.escape(END)}", re.DOTALL)
    return pattern.sub(lambda _: f"{START}{text}{END}", page)


if __name__ == "__main__":
    PAGE.write_text(page_with(table()), encoding="utf-8")
