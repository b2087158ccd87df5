"""Features against hand computation."""

import hashlib
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from helpers import small_market
from scipy.sparse import issparse

from frugalmct import features as module
from frugalmct.errors import FrugalError
from frugalmct.features import (
    DIMENSIONS,
    SUMMARY,
    FeatureMap,
    _spacy_pipeline,
    default_features,
    summary_columns,
    text_vectors,
)
from frugalmct.market import Evidence
from frugalmct.sparse import label_matrix, take_rows

NAMES = np.array(["Jordan_per", "Jordan_loc", "Jordania_loc", "Acme Corp_org"])


def entity_scores():
    """One item with two entities, one with none, one with one."""
    return label_matrix([0, 2, 2, 3], [0, 3, 1], [0.5, 1.0, 0.25], len(NAMES))


def test_labels_are_the_scores_and_a_summary():
    # The base answers: car 0 and person 0.5; 猫 1; nothing; 猫 0.1.
    rows = FeatureMap("labels").transform(small_market().evidence(0))
    assert issparse(rows) and rows.dtype == np.float32
    expected = [
        [0, 0, 0.5, 0, 2, 0.5, 0.25],
        [0, 0, 0, 1, 1, 1, 1],
        [0, 0, 0, 0, 0, 0, 0],
        [0, 0, 0, 0.1, 1, 0.1, 0.1],
    ]
    np.testing.assert_array_equal(rows.toarray(), np.array(expected, dtype=np.float32))


def test_the_papers_example_of_features():
    scores = label_matrix([0, 2], [0, 1], [0.8, 0.7], 3)
    features = FeatureMap("labels", summary=False)
    rows = features.transform(Evidence(scores, np.array(["person", "car", "bike"])))
    np.testing.assert_array_equal(rows.toarray(), np.array([[0.8, 0.7, 0]], dtype=np.float32))
    assert features.can_give(3, labels=3) and not features.can_give(6, labels=3)


def test_without_the_summary_an_embedding_is_the_vectors_alone():
    evidence = Evidence(entity_scores(), NAMES)
    alone = FeatureMap("embedding", summary=False).transform(evidence)
    np.testing.assert_array_equal(alone, FeatureMap("embedding").transform(evidence)[:, :DIMENSIONS])


def test_summary_counts_labels_with_score_zero():
    scores = label_matrix([0, 3, 3], [0, 1, 2], [0.0, 0.0, 0.6], 3)
    np.testing.assert_allclose(summary_columns(scores), [[3, 0.6, 0.2], [0, 0, 0]], rtol=1e-6)


def test_embedding_is_the_sum_of_label_vectors_weighted_by_score():
    rows = FeatureMap("embedding").transform(Evidence(entity_scores(), NAMES))
    vectors = text_vectors(NAMES)
    assert rows.shape == (3, DIMENSIONS + len(SUMMARY)) and rows.dtype == np.float32
    np.testing.assert_allclose(rows[0, :DIMENSIONS], 0.5 * vectors[0] + 1.0 * vectors[3], atol=1e-6)
    np.testing.assert_array_equal(rows[1], 0)
    np.testing.assert_allclose(rows[2, :DIMENSIONS], 0.25 * vectors[1], atol=1e-6)
    np.testing.assert_allclose(rows[:, DIMENSIONS:], [[2, 1, 0.75], [0, 0, 0], [1, 0.25, 0.25]])


def signs(text: str) -> np.ndarray:
    digest = hashlib.blake2b(text.encode(), digest_size=12).digest()
    bits = "".join(f"{byte:08b}" for byte in digest)
    return np.array([1.0 if bit == "1" else -1.0 for bit in bits])


def test_text_vectors_by_hand():
    spelling = sum(map(signs, ["<ab>", "<a", "ab", "b>", "<ab", "ab>", "<ab>"]))[:80]
    kind = signs("type per")[:16]
    parts = [part / np.linalg.norm(part) for part in (spelling, kind)]
    np.testing.assert_allclose(text_vectors(["ab_per"])[0], np.concatenate(parts) / np.sqrt(2), atol=1e-6)


def test_text_vectors_are_unit_and_the_same_everywhere():
    vectors = text_vectors(NAMES)
    assert vectors.shape == (4, DIMENSIONS) and vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-6)
    # Fixed digits: a change of the hash would silently make every saved strategy wrong.
    np.testing.assert_allclose(vectors[0, :4], [-0.0181369, 0.0906845, 0.0544107, -0.0544107], atol=1e-6)


def test_text_vectors_tell_type_and_spelling():
    person, place, land, company = text_vectors(NAMES)
    assert np.dot(place, land) > 0.7  # alike in both
    assert np.dot(place, land) > np.dot(person, land) > np.dot(person, company)
    # Types differ by more than a few n-grams of the spelling would make them.
    assert np.dot(person, place) < 0.75
    other = text_vectors(["Kowloon_loc", "Kowloon_per"])
    assert np.dot(place, other[0]) > np.dot(place, other[1]) + 0.25


def test_text_vectors_of_any_text():
    vectors = text_vectors(["", "_", "_per", "北京_loc", "a" * 500, "no type"])
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-5)
    assert text_vectors([]).shape == (0, DIMENSIONS)


def test_a_vector_does_not_depend_on_the_labels_beside_it():
    many = [f"name {number}_org" for number in range(5000)]
    np.testing.assert_array_equal(text_vectors(many)[[0, 4999]], text_vectors([many[0], many[4999]]))


def test_vectors_that_are_remembered_are_those_made_anew(monkeypatch):
    """Whatever was asked for before, and when there is room for few of them only."""
    monkeypatch.setattr(module, "MAX_REMEMBERED", 5)
    remembered = module._Remembered()
    for wanted in ("ab", "bcb", "cdefa", "afg", "abcdefgh", "ha", ""):
        names = np.array([f"{letter}_per" for letter in wanted], dtype=str)
        np.testing.assert_array_equal(remembered.of(names).reshape(-1, DIMENSIONS), text_vectors(names))
        assert len(remembered._known) <= 5


@pytest.mark.parametrize("kind", ["labels", "embedding"])
def test_a_row_does_not_depend_on_the_items_beside_it(kind):
    rng = np.random.default_rng(0)
    counts = rng.integers(0, 30, 50)
    names = np.array([f"{code}_per" for code in range(40)])
    labels = np.concatenate([np.sort(rng.choice(40, count, replace=False)) for count in counts])
    scores = label_matrix(np.cumsum([0, *counts]), labels, rng.random(len(labels)), 40)
    together = FeatureMap(kind).transform(Evidence(scores, names))
    for item in (0, 17, 49):
        alone = FeatureMap(kind).transform(Evidence(take_rows(scores, [item]), names))
        beside = together[[item]]
        dense = [rows.toarray() if issparse(rows) else rows for rows in (alone, beside)]
        np.testing.assert_array_equal(*dense)


def test_an_items_own_numbers_are_used_as_they_are():
    own = np.array([[1e6, -3.5], [0, 0], [2, 2], [3, 1]])
    market = small_market(features=own)
    for kind in ("labels", "embedding", "given"):
        rows = FeatureMap.of(market.evidence(0), market.task, kind).transform(market.evidence(0))
        dense = rows.toarray() if issparse(rows) else rows
        np.testing.assert_array_equal(dense[:, -2:], own.astype(np.float32))
    assert FeatureMap.of(market.evidence(0), market.task, "given").transform(market.evidence(0)).shape == (
        4,
        2,
    )
    assert FeatureMap.of(market.evidence(0), market.task).transform(market.evidence(0)).shape == (
        4,
        4 + len(SUMMARY) + 2,
    )


def test_names_match_the_columns():
    market = small_market(features=np.ones((4, 2)))
    for kind in ("labels", "embedding", "given"):
        features = FeatureMap.of(market.evidence(0), market.task, kind)
        assert len(features.names(market.labels)) == features.transform(market.evidence(0)).shape[1]
    assert FeatureMap("labels").names(["car"]) == ["car", *SUMMARY]
    assert FeatureMap("labels", summary=False).names(["car"]) == ["car"]


def test_defaults_go_by_task():
    assert [default_features(task) for task in ("MIC", "STR", "NER")] == ["labels", "labels", "embedding"]
    assert FeatureMap.of(small_market().evidence(0), "NER").kind == "embedding"


def test_a_map_survives_its_dictionary():
    features = FeatureMap("embedding", given=3)
    assert FeatureMap.from_dict(features.to_dict()) == features
    alone = FeatureMap("labels", summary=False)
    assert FeatureMap.from_dict(alone.to_dict()) == alone
    with pytest.raises(FrugalError, match="has no 'summary'"):
        FeatureMap.from_dict({"kind": "labels", "given": 0})


@pytest.fixture
def stub_spacy(monkeypatch):
    """A module in spaCy's place: a text's vector is (its length, its number of words)."""

    def load(name):
        width = 0 if name == "en_vectorless" else 2

        def pipe(texts):
            for text in texts:
                yield SimpleNamespace(vector=np.array([len(text), len(text.split())][:width], np.float32))

        return SimpleNamespace(pipe=pipe)

    _spacy_pipeline.cache_clear()
    util = SimpleNamespace(is_package=lambda name: name != "en_not_there")
    monkeypatch.setitem(sys.modules, "spacy", SimpleNamespace(load=load, util=util))
    yield
    _spacy_pipeline.cache_clear()


def test_spacy_vectors_take_the_embeddings_place(stub_spacy):
    features = FeatureMap("spacy:en_small")
    rows = features.transform(Evidence(entity_scores(), NAMES))
    # 0.5 * "Jordan per" + 1 * "Acme Corp org"; 0.25 * "Jordan loc".
    np.testing.assert_allclose(rows[:, :2], [[0.5 * 10 + 13, 0.5 * 2 + 3], [0, 0], [2.5, 0.5]])
    assert len(features.names(NAMES)) == rows.shape[1]


def test_a_spacy_model_that_is_not_there_says_how_to_get_it(stub_spacy, monkeypatch):
    with pytest.raises(FrugalError, match="python -m spacy download en_not_there"):
        FeatureMap("spacy:en_not_there").transform(Evidence(entity_scores(), NAMES))
    with pytest.raises(FrugalError, match="no word vectors"):
        FeatureMap("spacy:en_vectorless").transform(Evidence(entity_scores(), NAMES))
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(FrugalError, match="pip install spacy"):
        FeatureMap("spacy:en_other").transform(Evidence(entity_scores(), NAMES))


@pytest.mark.parametrize(
    ("call", "part"),
    [
        (lambda: FeatureMap("bag of words"), "known: labels"),
        (lambda: FeatureMap("spacy:"), "Unknown features"),
        (lambda: FeatureMap("given"), "needs a `features` list"),
        (lambda: FeatureMap("labels").transform(Evidence(entity_scores(), NAMES[:2])), "4 columns"),
        (lambda: FeatureMap("labels", given=2).transform(small_market().evidence(0)), "bring 0 numbers"),
        (
            lambda: FeatureMap("labels").transform(small_market(features=np.ones((4, 1))).evidence(0)),
            "bring 1",
        ),
        (
            lambda: FeatureMap("given", given=2).transform(Evidence(entity_scores(), NAMES)),
            "bring 0 numbers each, but 2",
        ),
        (lambda: FeatureMap.from_dict({"kind": "labels"}), "save the feature map again"),
    ],
)
def test_malformed_input_is_answered_in_one_sentence(call, part):
    with pytest.raises(FrugalError) as caught:
        call()
    assert part in str(caught.value) and "\n" not in str(caught.value)
