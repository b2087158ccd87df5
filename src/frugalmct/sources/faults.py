"""What is wrong with a data file: the first faults in full, and how many there are."""

from typing import NamedTuple

MAX_FAULTS = 20
# Reading ends after the line that reaches so many: a file of another format is wrong in every line.
MAX_COUNTED = 100_000


class Fault(NamedTuple):
    """One thing wrong with a data file."""

    line: int
    text: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.text}"


class Faults:
    """Faults as they are found; `line` is the line that is being read."""

    def __init__(self) -> None:
        self.line = 0
        self.first: list[Fault] = []
        self.count = 0

    def add(self, text: str, *, after: int = 0) -> None:
        self.count += 1
        if len(self.first) < MAX_FAULTS:
            self.first.append(Fault(self.line + after, text))
