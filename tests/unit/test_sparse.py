import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from frugalmct.sparse import (
    entry_keys,
    label_matrix,
    merged,
    overlap_sizes,
    row_numbers,
    set_sizes,
    shared_entries,
    take_rows,
)

LABELS = 5
# A row is label -> score; zeros are likely, since they are what scipy would drop.
rows = st.dictionaries(st.integers(0, LABELS - 1), st.sampled_from([0.0, 0.5, 1.0]))


def _matrix(items: list[dict[int, float]]) -> csr_matrix:
    """Built in the order in which labels come, so not sorted."""
    starts = np.cumsum([0, *map(len, items)])
    pairs = [pair for item in items for pair in item.items()]
    return label_matrix(starts, [label for label, _ in pairs], [score for _, score in pairs], LABELS)


def _items(matrix: csr_matrix) -> list[dict[int, float]]:
    bounds = zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True)
    return [
        dict(zip(matrix.indices[a:b].tolist(), matrix.data[a:b].tolist(), strict=True)) for a, b in bounds
    ]


@given(st.lists(rows, max_size=8))
def test_label_matrix_keeps_every_entry_and_sorts_them(items):
    matrix = _matrix(items)
    assert _items(matrix) == items
    assert all(list(item) == sorted(item) for item in _items(matrix))
    assert matrix.shape == (len(items), LABELS)
    assert matrix.has_canonical_format


def test_scores_default_to_one():
    assert label_matrix([0, 2], [3, 1], None, LABELS).data.tolist() == [1.0, 1.0]


@given(st.lists(st.tuples(rows, rows), min_size=1, max_size=8))
def test_overlap_equals_that_of_sets(pairs):
    left, right = (list(side) for side in zip(*pairs, strict=True))
    expected = [len(a.keys() & b.keys()) for a, b in pairs]
    assert overlap_sizes(_matrix(left), _matrix(right)).tolist() == expected


@given(st.lists(rows, max_size=8))
def test_sizes_rows_and_keys(items):
    matrix = _matrix(items)
    assert set_sizes(matrix).tolist() == [len(item) for item in items]
    assert row_numbers(matrix).tolist() == [number for number, item in enumerate(items) for _ in item]
    keys = entry_keys(matrix)
    assert keys.tolist() == sorted(n * LABELS + label for n, item in enumerate(items) for label in item)
    assert keys.dtype == np.int64


def test_keys_do_not_overflow():
    # 100,000 items x 100,000 labels are more than 32 bits can count.
    starts = np.concatenate([np.zeros(100_000, dtype=int), [1]])
    assert entry_keys(label_matrix(starts, [99_999], None, 100_000)).tolist() == [99_999 * 100_000 + 99_999]


@given(st.lists(rows, min_size=1, max_size=6), st.lists(st.integers(0, 5), max_size=9))
def test_take_rows_keeps_order_repeats_and_stored_zeros(items, wanted):
    wanted = [number % len(items) for number in wanted]
    taken = take_rows(_matrix(items), np.array(wanted, dtype=int))
    assert _items(taken) == [items[number] for number in wanted]


@given(st.lists(st.tuples(rows, rows, rows), min_size=1, max_size=8))
def test_merged_entries_equal_those_of_sets(items):
    sides = [list(side) for side in zip(*items, strict=True)]
    matrices = [_matrix(side) for side in sides]
    union, found = merged(matrices)
    expected = [(n, label) for n, each in enumerate(items) for label in sorted(set().union(*each))]
    assert list(zip(row_numbers(union).tolist(), union.indices.tolist(), strict=True)) == expected
    for side, matrix, numbers in zip(sides, matrices, found, strict=True):
        scores = np.append(np.nan, matrix.data)[numbers]
        assert [None if np.isnan(score) else score for score in scores] == [
            side[n].get(label) for n, label in expected
        ]


@given(st.lists(st.tuples(rows, rows), min_size=1, max_size=8))
def test_shared_entries_equal_those_of_sets(pairs):
    left, right = (list(side) for side in zip(*pairs, strict=True))
    expected = [label in other for own, other in pairs for label in sorted(own)]
    assert shared_entries(_matrix(left), _matrix(right)).tolist() == expected
