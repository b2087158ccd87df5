"""Plain data: what YAML and JSON can say, and nothing that would surprise later."""

import math
from collections.abc import Mapping
from typing import Any

from frugalmct.paper.config.sentences import ConfigPath, fail, shown

MAX_DEPTH = 20


def plain(value: Any, path: ConfigPath = ()) -> Any:
    """A copy made of dict, list, str, int, float, bool and None only."""
    if len(path) > MAX_DEPTH:
        fail(path[:3], f"is nested more than {MAX_DEPTH} levels deep; flatten it")
    if isinstance(value, Mapping):
        return {_plain_key(key, path): plain(entry, (*path, str(key))) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry, (*path, place)) for place, entry in enumerate(value)]
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _plain_text(str(value), path)
    if isinstance(value, int | float):
        return _plain_number(value, path)
    return fail(path, f"is a {type(value).__name__}; write text in quotes, numbers without")


def _plain_key(key: Any, path: ConfigPath) -> str:
    if not isinstance(key, str):
        hint = "; YAML reads yes, no, on and off as true or false" if isinstance(key, bool) else ""
        fail(path, f"has the key {shown(key)}, which is not text; put it in quotes{hint}")
    return _plain_text(str(key), path)


def _plain_text(text: str, path: ConfigPath) -> str:
    if any("\ud800" <= character <= "\udfff" or character == "\0" for character in text):
        fail(path, f"holds {shown(text)}, which no file can store; use ordinary characters")
    return text


def _plain_number(value: float, path: ConfigPath) -> int | float:
    if isinstance(value, int):
        if value.bit_length() > 1000:
            fail(path, "is a whole number of hundreds of digits; give a smaller one")
        return int(value)
    if not math.isfinite(value):
        fail(path, f"is {value}; give a finite number")
    return float(value)
