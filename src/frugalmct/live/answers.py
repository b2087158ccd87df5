"""Answers as services give them: `[["car", 0.9], ["bike", 0.4]]`; what is none is nonsense, with a reason."""

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

from frugalmct.values import shown, text_fault

Labels = dict[str, float]
"""An answer once it is checked: label -> score, the highest one where a label came twice."""

MOST_LABELS = 10_000


class Nonsense(Exception):
    """A service answered, but not with labels and scores."""


def checked_answer(answer: Any) -> Labels:
    """Label -> score of pairs, or of a mapping; an empty list is an answer, too: the service saw nothing."""
    if type(answer) is not list and isinstance(answer, Mapping):
        answer = list(answer.items())
    if type(answer) is not list and (isinstance(answer, str | bytes) or not isinstance(answer, Sequence)):
        raise Nonsense(f"its answer is {shown(answer)}; a list of [label, score] pairs was expected")
    if len(answer) > MOST_LABELS:
        raise Nonsense(f"its answer has {len(answer):,} labels; {MOST_LABELS:,} are the most")
    found: Labels = {}
    for pair in answer:
        # Nearly all are lists of a text and a float, which is seen at once.
        listed = type(pair) is list or (isinstance(pair, Sequence) and not isinstance(pair, str))
        if not listed or len(pair) != 2:
            raise Nonsense(f"it answered {shown(pair)} where a [label, score] pair was expected")
        label, score = pair
        if fault := text_fault(label):
            raise Nonsense(f"a label {fault.rstrip('.')}")
        number = type(score) is float or (isinstance(score, Real) and not isinstance(score, bool))
        if not number or not 0 <= float(score) <= 1:
            raise Nonsense(f"the score of {label!r} is {shown(score)}; a number in [0, 1] was expected")
        found[label] = max(float(score), found.get(label, 0.0))
    return found


def labels_or_failure(answer: Any) -> Labels | str:
    """The labels of an answer, or why it is none. An exception, or None, stands for a failed call."""
    if answer is None:
        return "the call failed"
    if isinstance(answer, BaseException):
        return f"{type(answer).__name__}: {answer}"[:300]
    try:
        return checked_answer(answer)
    except Nonsense as error:
        return str(error)


def labels_of(answer: Any) -> list[str] | None:
    """The labels of an answer that may be of any kind; None if it is no set of them."""
    found = labels_or_failure(answer)
    return None if isinstance(found, str) else list(found)


def failure_of(answer: Any) -> str | None:
    """Why this is no answer; None if it can be used."""
    found = labels_or_failure(answer)
    return found if isinstance(found, str) else None
