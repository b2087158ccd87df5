"""The one exception that carries a message for the user rather than for the programmer."""

from collections.abc import Iterable


class FrugalError(ValueError):
    """A user's mistake in one sentence: where, what was given, what is allowed, what to do."""


def listed(names: Iterable[object]) -> str:
    """`a, b, c` for use inside a message; `(none)` when there is nothing to list."""
    return ", ".join(str(name) for name in names) or "(none)"
