"""Random generators that depend on what they are for, never on the order of calls.

A generator is named by a path such as (seed, dataset, repetition, purpose). Two runs, on one core
or on eight, with all datasets or with one, therefore draw the same numbers.
"""

import hashlib

import numpy as np


def seed_for(*path: str | int) -> int:
    """A 128-bit seed that is a function of the path alone."""
    # A number or name taken out of a numpy array has to give the seed that Python's own gives.
    plain = (part.item() if isinstance(part, np.generic) else part for part in path)
    text = "\x1f".join(f"{type(part).__name__}:{part}" for part in plain)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:16], "big")


def generator(*path: str | int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(seed_for(*path)))


def small_seed(*path: str | int) -> int:
    """A 31-bit seed, for libraries (scikit-learn, solvers) that take no larger one."""
    return seed_for(*path) % (2**31 - 1)
