import itertools

import numpy as np

from frugalmct.seeds import generator, seed_for, small_seed


def test_same_path_gives_same_draws_whatever_was_drawn_before():
    expected = generator(0, "PASCAL", 1, "split").random(5)
    generator(0, "MIR", 1, "split").random(1000)
    np.random.default_rng(3).random(10)
    np.testing.assert_array_equal(generator(0, "PASCAL", 1, "split").random(5), expected)


def test_seed_does_not_change_between_versions():
    # Every simulated market and every split hangs on it.
    assert seed_for(0, "PASCAL", 0, "split") == 87573853303261162696327575109112298305


def test_paths_that_look_alike_differ():
    paths = [
        ("a", "b"),
        ("ab",),
        ("b", "a"),
        ("a", "b", ""),
        ("a",),
        (),
        ("",),
        (1,),
        ("1",),
        (1, 1),
        (11,),
        (-1,),
    ]
    paths += [("a:b",), ("a,b",), ("a b",), ("int:1",), ("str:a",)]
    for left, right in itertools.combinations(paths, 2):
        assert seed_for(*left) != seed_for(*right), (left, right)


def test_numbers_and_names_from_numpy_are_the_same_path():
    assert seed_for(np.int64(7), np.str_("PASCAL")) == seed_for(7, "PASCAL")
    assert seed_for(np.uint8(7)) == seed_for(7)


def test_seeds_fit_where_they_are_used():
    for number in range(200):
        assert 0 <= small_seed("forest", number) < 2**31 - 1
        assert 0 <= seed_for("forest", number) < 2**128


def test_draws_of_different_paths_are_unrelated():
    draws = np.array([generator("dataset", number).random(200) for number in range(20)])
    correlation = np.corrcoef(draws) - np.eye(20)
    assert np.abs(correlation).max() < 0.35
