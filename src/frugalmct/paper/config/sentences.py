"""One sentence about one place of the configuration: where, what was given, what is allowed."""

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any, NoReturn

from frugalmct.errors import FrugalError, listed

ConfigPath = tuple[str | int, ...]


def fail(path: Sequence[str | int], text: str, others: int = 0) -> NoReturn:
    """Raises the sentence about one place of the configuration."""
    more = f"; and {others} more problem{'s' if others > 1 else ''}" if others else ""
    raise FrugalError(f"config: {where(path)} {text}{more}.")


def where(path: Sequence[str | int]) -> str:
    """`datasets.PASCAL.prices.Google`, `only[0]`."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            name = part if re.fullmatch(r"[\w+-]{1,64}", part) else shown(part)
            text += f".{name}" if text else name
    return text or "the top level"


def shown(value: Any) -> str:
    """What was given, short and on one line."""
    if value is None:
        return "empty"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return "a block of keys" if value else "an empty block"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:50]}... ({len(text)} characters)"


def suggestion(given: Any, known: Iterable[str]) -> str:
    known = list(known)
    by_folded = {name.casefold(): name for name in known}
    close = get_close_matches(str(given).casefold(), by_folded, n=1, cutoff=0.6)
    hint = f"; did you mean '{by_folded[close[0]]}'?" if close else ";"
    shown = known if len(known) <= 12 else [*known[:12], f"and {len(known) - 12} more"]
    return f"{hint} known: {listed(shown)}"
