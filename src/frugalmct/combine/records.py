"""How often labels were right in the past: by who gave them, and by what was given beside them.

Counts are kept fold by fold. What a training item is shown then leaves out its own fold, and the fold that a
model is tested on: no number a model sees of an item, or learns from, has seen the truth it is measured by.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from frugalmct.combine.candidates import MOST_COMBINED, Candidates, float32_columns
from frugalmct.errors import FrugalError

# Counts are pulled towards the mean as if that had been seen this many times more.
PRIOR = 5.0
# A label that was given once, or a pair seen a few times, tells too little to be remembered.
LEAST_LABELS, LEAST_PAIRS = 2, 5
# The most pairs remembered, those seen most often: a saved combiner stays small.
MAX_PAIRS = 20_000
# The pairs of so many, or a few more, tell which ones those are.
PAIRS_COUNTED = 1 << 20
LABEL_BITS = 31
# Keys below this are looked up in a list of all.
MAX_DIRECT = 1 << 20
MAX_GIVERS = (1 << MOST_COMBINED) - 1

COLUMNS = 5
NAMES = ("givers", "labels", "given_labels", "pairs")
PARTS = ("keys", "given", "right")

Places = NDArray[np.int64]
NONE: Places = np.zeros(0, dtype=np.int64)


class Held(NamedTuple):
    """The fold of every item, and the fold held out, if one is: its truth is as if unknown."""

    fold: NDArray[np.int64]
    out: int | None


@dataclass(frozen=True, eq=False)
class Tally:
    """For each key, fold by fold, how often it was given and how often it was right: (folds, keys)."""

    keys: NDArray[np.int64]
    given: NDArray[np.int32]
    right: NDArray[np.int32]

    @classmethod
    def of(
        cls,
        keys: NDArray[np.int64],
        is_true: NDArray[np.bool_],
        fold: NDArray[np.int64],
        folds: int,
        least: int = 1,
        most: int | None = None,
    ) -> "Tally":
        """Only keys given at least so many times, and of these the `most` given most often."""
        return cls.counted(_codes(keys, is_true, fold, folds), folds, least, most)

    @classmethod
    def counted(cls, codes: NDArray[np.int64], folds: int, least: int, most: int | None) -> "Tally":
        bits = _code_bits(folds)
        codes.sort()
        own = codes >> bits
        starts = np.flatnonzero(np.concatenate([[True], own[1:] != own[:-1]])) if len(own) else own
        given = np.diff(np.append(starts, len(own)))
        kept = given >= least
        if most is not None and np.count_nonzero(kept) > most:
            often = np.flatnonzero(kept)
            kept[often[np.argsort(-given[often], kind="stable")[most:]]] = False
        chosen = np.repeat(kept, given)
        unique = own[starts[kept]]
        places = np.repeat(np.arange(len(unique)), given[kept])
        cells = (places << bits) | (codes[chosen] & ((1 << bits) - 1))
        table = np.bincount(cells, minlength=len(unique) << bits)
        wrong, right = (
            table.astype(np.int32).reshape(len(unique), 1 << (bits - 1), 2)[:, :folds].transpose(2, 1, 0)
        )
        return cls(unique, wrong + right, right)

    def summed(self) -> "Tally":
        """All folds as one: what new items are judged by."""
        return Tally(
            self.keys,
            self.given.sum(axis=0, dtype=np.int32)[None],
            self.right.sum(axis=0, dtype=np.int32)[None],
        )

    def places(self, keys: NDArray[np.int64]) -> Places:
        """Where each key is; -1 where it is not known."""
        if not len(self.keys):
            return np.full(len(keys), -1, dtype=np.int64)
        if self._direct is not None:
            return self._direct[np.minimum(keys, len(self._direct) - 1)]
        places = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[places] == keys, places, -1)

    @cached_property
    def _direct(self) -> Places | None:
        """The place of every key, and of one beyond, where keys are small: sooner than a search."""
        if self.keys[-1] >= MAX_DIRECT:
            return None
        direct = np.full(int(self.keys[-1]) + 2, -1, dtype=np.int64)
        direct[self.keys] = np.arange(len(self.keys))
        return direct

    def share(self, places: Places, expected: NDArray[np.float64], held: Held | None) -> NDArray[np.float64]:
        """How often each was right, pulled towards what is expected of it."""
        given, right = self.counts(self.given, places, held), self.counts(self.right, places, held)
        return (right + PRIOR * expected) / (given + PRIOR)

    @staticmethod
    def counts(table: NDArray[np.int32], places: Places, held: Held | None) -> NDArray[np.int64]:
        """The count at each place over all folds but its own item's and the one held out."""
        total = table.sum(axis=0, dtype=np.int64)
        if held is not None and held.out is not None:
            total = total - table[held.out]
        counts = np.append(total, 0)[places]  # an unknown key, -1, has been seen 0 times
        if held is not None:
            own = (places >= 0) & (held.fold != held.out)
            counts[own] -= table[held.fold[own], places[own]]
        return counts


@dataclass(frozen=True, eq=False)
class Records:
    """Tallies by who gave a label, by label, by both, and by the label with another one of its item."""

    givers: Tally
    labels: Tally
    given_labels: Tally
    pairs: Tally

    @classmethod
    def of(
        cls, candidates: Candidates, is_true: NDArray[np.bool_], fold: NDArray[np.int64], folds: int
    ) -> "Records":
        """From candidates of known truth; fold: (items,)."""
        own = fold[candidates.rows]
        return cls(
            Tally.of(candidates.givers, is_true, own, folds),
            Tally.of(candidates.labels, is_true, own, folds, LEAST_LABELS),
            Tally.of(_given_labels(candidates), is_true, own, folds, LEAST_LABELS),
            _tally_of_pairs(candidates, is_true, own, folds),
        )

    def look_up(self, candidates: Candidates) -> "Lookup":
        first, second = (_of_known(candidates.labels, known) for known in self._paired)
        who, places = [NONE], [NONE]
        for block, keys in _pair_keys(candidates, first, second):
            found = self.pairs.places(keys)
            who.append(block[found >= 0])
            places.append(found[found >= 0])
        return Lookup(
            self,
            candidates.rows,
            self.givers.places(candidates.givers),
            self.labels.places(candidates.labels),
            self._places_given(candidates),
            np.concatenate(who),
            np.concatenate(places),
        )

    def _places_given(self, candidates: Candidates) -> Places:
        """Where label and givers together are: in a table of all of them, where it is small."""
        table = self._direct_given
        if table is None:
            return self.given_labels.places(_given_labels(candidates))
        labels, givers = (
            np.minimum(part, size - 1)
            for part, size in zip((candidates.labels, candidates.givers), table.shape, strict=True)
        )
        return table[labels, givers]

    @cached_property
    def _direct_given(self) -> Places | None:
        """(labels, givers), the last of both standing for all that are not known; None if it is too large."""
        labels, givers = self.given_labels.keys >> MOST_COMBINED, self.given_labels.keys & MAX_GIVERS
        shape = int(labels.max(initial=-1)) + 2, int(givers.max(initial=-1)) + 2
        if shape[0] * shape[1] > MAX_DIRECT:
            return None
        table = np.full(shape, -1, dtype=np.int64)
        table[labels, givers] = np.arange(len(labels))
        return table

    @cached_property
    def _paired(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Which labels, up to the last of them, come first in a pair that is remembered, and which second.

        Most labels of a large vocabulary are in none, and need not be looked for.
        """
        keys = self.pairs.keys
        first, second = keys >> LABEL_BITS, keys & ((1 << LABEL_BITS) - 1)
        return np.bincount(first) > 0, np.bincount(second) > 0

    def summed(self) -> "Records":
        return Records(*(getattr(self, name).summed() for name in NAMES))

    def arrays(self) -> dict[str, np.ndarray]:
        """What `from_arrays` reads; of records that are summed."""
        return {
            f"{name}.{part}": values if part == "keys" else values[0]
            for name in NAMES
            for part in PARTS
            for values in (getattr(getattr(self, name), part),)
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray]) -> "Records":
        return cls(*(_restored(name, arrays) for name in NAMES))


@dataclass(frozen=True, eq=False)
class Lookup:
    """Where candidates stand in the records, found once however many folds are held out."""

    records: Records
    rows: NDArray[np.int64]
    givers: Places
    labels: Places
    given_labels: Places
    who: NDArray[np.int64]
    pairs: Places

    def take(self, chosen: NDArray[np.bool_]) -> "Lookup":
        """That of some of the candidates."""
        number = np.cumsum(chosen) - 1
        pairs = chosen[self.who]
        return replace(
            self,
            rows=self.rows[chosen],
            givers=self.givers[chosen],
            labels=self.labels[chosen],
            given_labels=self.given_labels[chosen],
            who=number[self.who[pairs]],
            pairs=self.pairs[pairs],
        )

    def columns(self, fold: NDArray[np.int64] | None = None, held_out: int | None = None) -> np.ndarray:
        """(candidates, 5): how often its givers were right, its label, both; how well known the label is; and
        how much the labels beside it speak for it. fold: (items,), of training items."""
        records = self.records
        held = None if fold is None else Held(fold[self.rows], held_out)
        overall = self._overall(held)
        givers = records.givers.share(self.givers, overall, held)
        labels = records.labels.share(self.labels, overall, held)
        both = records.given_labels.share(self.given_labels, givers, held)
        seen = records.labels.counts(records.labels.given, self.labels, held)
        beside = None if held is None else Held(held.fold[self.who], held_out)
        usual = labels[self.who]
        lift = log_odds(records.pairs.share(self.pairs, usual, beside)) - log_odds(usual)
        context = np.bincount(self.who, weights=lift, minlength=len(self.rows))
        return float32_columns([givers, labels, both, np.log1p(seen), context])

    def _overall(self, held: Held | None) -> NDArray[np.float64]:
        """How often any label was right, of the folds that each candidate may know."""
        tally = self.records.givers
        given, right = tally.given.sum(axis=1), tally.right.sum(axis=1)
        if held is None:
            return np.full(len(self.rows), (right.sum() + 0.5) / (given.sum() + 1))
        known = np.ones((len(given), len(given))) - np.eye(len(given))
        if held.out is not None:
            known[:, held.out] = 0
        return ((known @ right + 0.5) / (known @ given + 1))[held.fold]


def _given_labels(candidates: Candidates) -> NDArray[np.int64]:
    return (candidates.labels << MOST_COMBINED) | candidates.givers


def _tally_of_pairs(
    candidates: Candidates, is_true: NDArray[np.bool_], fold: NDArray[np.int64], folds: int
) -> Tally:
    """Of items enough for PAIRS_COUNTED pairs, spread evenly over all; fold: (candidates,)."""
    pairs = int((np.diff(candidates.starts) * (candidates.leading >= 0).sum(axis=1)).sum())
    every = -(-pairs // PAIRS_COUNTED)
    blocks = _pair_keys(candidates, candidates.rows % max(every, 1) == 0)
    codes = [_codes(keys, is_true[who], fold[who], folds) for who, keys in blocks]
    return Tally.counted(np.concatenate([NONE, *codes]), folds, LEAST_PAIRS, MAX_PAIRS)


def _pair_keys(
    candidates: Candidates, some: NDArray[np.bool_], beside: NDArray[np.bool_] | None = None
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Some candidates with those beside them that are wanted, label and label as one number; in blocks."""
    for who, other in candidates.neighbours(some, beside):
        yield who, (candidates.labels[who] << LABEL_BITS) | candidates.labels[other]


def _code_bits(folds: int) -> int:
    return (2 * folds - 1).bit_length()


def _codes(
    keys: NDArray[np.int64], is_true: NDArray[np.bool_], fold: NDArray[np.int64], folds: int
) -> NDArray[np.int64]:
    """Key, fold and truth as one whole number, so that one sort brings together what is counted."""
    return (keys << _code_bits(folds)) | (fold << 1) | is_true


def _of_known(labels: NDArray[np.int64], known: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Whether each label is one of the known ones."""
    return np.append(known, False)[np.minimum(labels, len(known))]


def log_odds(share: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.log(share / (1 - share))


def _restored(name: str, arrays: Mapping[str, np.ndarray]) -> Tally:
    keys, given, right = (np.asarray(arrays[f"{name}.{part}"]) for part in PARTS)
    if keys.dtype != np.int64 or given.dtype != np.int32 or right.dtype != np.int32 or keys.ndim != 1:
        raise FrugalError(f"its records of {name} hold {keys.dtype}, {given.dtype} and {right.dtype}")
    if not keys.shape == given.shape == right.shape or np.any(np.diff(keys, prepend=-1) <= 0):
        raise FrugalError(f"its records of {name} are out of order")
    if len(keys) and not (right.min() >= 0 and np.all(right <= given)):
        raise FrugalError(f"its records of {name} have more right labels than given ones")
    return Tally(keys, given[None], right[None])
