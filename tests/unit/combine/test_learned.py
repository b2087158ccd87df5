"""The learned combiner: what it sees of an item, what it keeps, and what it must not see."""

import json
import tracemalloc

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from frugalmct.combine import combine, learned, search
from frugalmct.combine.candidates import MAX_CONTEXT, MOST_COMBINED, Candidates
from frugalmct.combine.learned import LearnedCombiner
from frugalmct.combine.validation import fold_choices
from frugalmct.errors import FrugalError
from frugalmct.metrics import set_metric
from frugalmct.sparse import label_matrix

Sets = list[dict[int, float]]


def matrix(sets: Sets, labels: int) -> csr_matrix:
    starts = np.cumsum([0, *map(len, sets)])
    names = [label for answer in sets for label in sorted(answer)]
    scores = [answer[label] for answer in sets for label in sorted(answer)]
    return label_matrix(starts, names, scores, labels)


def made_up(items: int, labels: int = 12, services: int = 2, seed: int = 0, scored: bool = True):
    """Truth of one to three labels; a service misses some of them, and adds phantoms of low scores."""
    draw = np.random.default_rng(seed)
    truth: Sets = []
    answers: list[Sets] = [[] for _ in range(services)]
    for _ in range(items):
        true = draw.choice(labels, draw.integers(1, 4), replace=False).tolist()
        truth.append(dict.fromkeys(true, 1.0))
        for k, own in enumerate(answers):
            found = {label: draw.uniform(0.4, 1) for label in true if draw.random() < 0.6 + 0.1 * k}
            phantoms = draw.choice(labels, draw.poisson(1.0), replace=False).tolist()
            answer = {label: draw.uniform(0, 0.7) for label in phantoms} | found
            own.append(answer if scored else dict.fromkeys(answer, 1.0))
    return matrix(truth, labels), [matrix(own, labels) for own in answers]


def test_it_beats_either_service_and_their_union_on_new_items():
    truth, answers = made_up(3_000)
    combiner = LearnedCombiner.fit(truth[:1_500], [own[:1_500] for own in answers])
    new = [own[1_500:] for own in answers]
    reached = combiner.accuracy(truth[1_500:], new).mean()
    union = answers[0][1_500:].maximum(answers[1][1_500:])
    assert reached > max(set_metric(truth[1_500:], own).mean() for own in [*new, union]) + 0.05
    assert combiner.out_of_fold.mean() == pytest.approx(reached, abs=0.02)


def test_accuracy_is_that_of_the_kept_sets():
    truth, answers = made_up(400)
    combiner = LearnedCombiner.fit(truth, answers)
    for metric in ("accuracy", "f1", "precision"):
        expected = set_metric(truth, combiner.apply(answers), metric)
        np.testing.assert_allclose(combiner.accuracy(truth, answers, metric), expected)


def random_truth(seed: int) -> tuple[csr_matrix, list[csr_matrix]]:
    """Two candidates an item, one of them true at random: nobody can be right more than half the time."""
    draw, labels = np.random.default_rng(seed), 40
    pairs = [draw.choice(labels, 2, replace=False).tolist() for _ in range(2_000)]
    truth = matrix([{pair[draw.integers(2)]: 1.0} for pair in pairs], labels)
    return truth, [matrix([{pair[k]: float(draw.random())} for pair in pairs], labels) for k in range(2)]


@pytest.mark.parametrize("labels_per_item", [None, 1])
def test_random_truth_is_not_foretold(labels_per_item):
    """What the truth says by chance must not come back as accuracy: each item alone knows its own truth."""
    found = []
    for truth, answers in map(random_truth, range(6)):
        combiner = LearnedCombiner.fit(truth, answers, labels_per_item=labels_per_item)
        found.append((combiner.out_of_fold.mean(), combiner.accuracy(truth, answers).mean()))
    out_of_fold, in_sample = np.mean(found, axis=0)
    assert out_of_fold == pytest.approx(0.5, abs=0.015)
    assert labels_per_item is None or in_sample > out_of_fold + 0.04, (
        "the test is worth something: memorising pays"
    )


def test_out_of_fold_probabilities_do_not_depend_on_the_own_truth():
    """Turning the truth of one item round leaves the probabilities of its whole fold as they are."""
    truth, answers = made_up(300)
    combiner = LearnedCombiner.fit(truth, answers)
    turned = truth.tolil()
    turned[7] = 0
    turned[7, 3] = 1
    changed = LearnedCombiner.fit(turned.tocsr(), answers)
    assert (combiner.likely[7] != changed.likely[7]).nnz == 0
    assert (combiner.likely != changed.likely).nnz > 0, "other folds have learnt from the item"


def test_one_label_items_get_one_label():
    draw = np.random.default_rng(0)
    truth = draw.integers(0, 7, 6_000)
    said = [np.where(draw.random(6_000) < right, truth, draw.integers(0, 7, 6_000)) for right in (0.6, 0.7)]
    answers = [matrix([{int(label): 0.8} for label in own], 7) for own in said]
    true = matrix([{int(label): 1.0} for label in truth], 7)
    combiner = LearnedCombiner.fit(true[:3_000], [own[:3_000] for own in answers], labels_per_item=1)
    kept = combiner.apply([own[3_000:] for own in answers])
    assert set(np.diff(kept.indptr)) == {1}
    assert set_metric(true[3_000:], kept).mean() >= (said[1] == truth)[3_000:].mean() - 0.01


def test_silent_services_neither_speak_nor_silence():
    truth, answers = made_up(600)
    silent = csr_matrix(truth.shape)
    alone = LearnedCombiner.fit(truth, [answers[0]])
    beside = LearnedCombiner.fit(truth, [answers[0], silent])
    assert beside.out_of_fold.mean() == pytest.approx(alone.out_of_fold.mean(), abs=0.01)
    nobody = LearnedCombiner.fit(truth, [silent, silent])
    assert nobody.apply([silent, silent]).nnz == 0
    assert nobody.out_of_fold.mean() == 0


def test_services_without_scores_are_told_apart_by_labels_and_agreement():
    truth, answers = made_up(2_000, scored=False)
    combiner = LearnedCombiner.fit(truth[:1_000], [own[:1_000] for own in answers])
    new = [own[1_000:] for own in answers]
    assert combiner.accuracy(truth[1_000:], new).mean() > set_metric(truth[1_000:], new[1]).mean() + 0.01


def test_a_third_service_helps_and_the_order_of_services_is_theirs():
    truth, answers = made_up(1_500, services=3)
    two, three = (LearnedCombiner.fit(truth, answers[:n]).out_of_fold.mean() for n in (2, 3))
    assert three > two + 0.02
    combiner = LearnedCombiner.fit(truth, answers[:2])
    with pytest.raises(FrugalError, match="2 services' answers, but was given 3"):
        combiner.apply(answers)


def test_what_is_saved_answers_alike_and_is_small(tmp_path):
    truth, answers = made_up(800)
    combiner = LearnedCombiner.fit(truth, answers)
    header, arrays = combiner.to_arrays()
    np.savez_compressed(tmp_path / "combiner.npz", **arrays)
    assert (tmp_path / "combiner.npz").stat().st_size < 50_000
    with np.load(tmp_path / "combiner.npz", allow_pickle=False) as loaded:
        restored = LearnedCombiner.from_arrays(json.loads(json.dumps(header)), dict(loaded))
    ours, theirs = combiner.apply(answers), restored.apply(answers)
    assert (ours != theirs).nnz == 0 and ours.nnz == theirs.nnz
    single = restored.apply([own[3] for own in answers])
    assert (single != ours[3]).nnz == 0, "an item alone is answered as among others"


@pytest.mark.parametrize(
    "damage",
    [
        lambda header, arrays: header.pop("rule"),
        lambda header, arrays: header.update(services=0),
        lambda header, arrays: header.update(offset=float("nan")),
        lambda header, arrays: header["rule"].update(missed=-1),
        lambda header, arrays: header["rule"].update(labels_per_item=0),
        lambda header, arrays: header["rule"].update(more=1),
        lambda header, arrays: arrays.pop("leaves"),
        lambda header, arrays: arrays.update(feature=arrays["feature"] + np.int16(100)),
        lambda header, arrays: arrays.update(leaves=arrays["leaves"][:, :3]),
        lambda header, arrays: arrays.update(threshold=arrays["threshold"] * np.float32(np.nan)),
        lambda header, arrays: arrays.update({"labels.right": arrays["labels.given"] + np.int32(1)}),
        lambda header, arrays: arrays.update({"pairs.keys": arrays["pairs.keys"][::-1]}),
        lambda header, arrays: arrays.update({"givers.given": arrays["givers.given"].astype(float)}),
    ],
)
def test_damaged_files_are_refused(damage):
    truth, answers = made_up(300)
    header, arrays = LearnedCombiner.fit(truth, answers).to_arrays()
    header = json.loads(json.dumps(header))
    damage(header, arrays)
    with pytest.raises(FrugalError, match="damaged"):
        LearnedCombiner.from_arrays(header, arrays)


def test_labels_never_seen_in_training_are_judged_by_who_gives_them():
    truth, answers = made_up(800)
    combiner = LearnedCombiner.fit(truth, answers)
    wide = [matrix([{12: 0.99}, {}], 14), matrix([{12: 0.99}, {13: 0.01}], 14)]
    likely = combiner.probabilities(wide)
    assert likely[0, 12] > 0.5 > likely[1, 13] > 0


def test_the_same_seed_gives_the_same_bytes():
    truth, answers = made_up(500)
    first, second, other = (LearnedCombiner.fit(truth, answers, seed=seed) for seed in (0, 0, 1))
    for name, array in first.to_arrays()[1].items():
        assert array.tobytes() == second.to_arrays()[1][name].tobytes()
    assert (first.likely != other.likely).nnz > 0


def test_candidates_in_order_and_what_they_are_judged_beside():
    candidates = Candidates.of(made_up(60)[1])
    values = np.random.default_rng(0).random(len(candidates)).round(1)
    by_hand = sorted(range(len(candidates)), key=lambda k: (candidates.rows[k], -values[k], k))
    assert candidates.order(values).tolist() == by_hand
    highest = candidates.scores.max(axis=1)
    leading = {item: [] for item in range(60)}
    for k in sorted(range(len(candidates)), key=lambda k: (candidates.rows[k], -highest[k], k)):
        leading[candidates.rows[k]].append(k)
    pairs = {
        (who, other)
        for who, item in enumerate(candidates.rows)
        for other in leading[item][:MAX_CONTEXT]
        if other != who
    }
    found = [pair for block in candidates.neighbours() for pair in zip(*block, strict=True)]
    assert set(found) == pairs and len(found) == len(pairs)


def test_some_items_are_judged_as_among_all(monkeypatch):
    """Trees are grown on the same sample, and labels counted over all: only the rule is chosen on less."""
    monkeypatch.setattr(learned, "ENOUGH_CANDIDATES", 500)
    truth, answers = made_up(900)
    judged = np.arange(0, 900, 2)
    every, some = (LearnedCombiner.fit(truth, answers, judged=rows) for rows in (None, judged))
    assert (every.likely[judged] != some.likely).nnz == 0
    assert some.fold.tolist() == every.fold[judged].tolist()
    for name, array in every.to_arrays()[1].items():
        assert array.tobytes() == some.to_arrays()[1][name].tobytes()
    kept = every.rule == some.rule
    assert not kept or some.out_of_fold.tolist() == every.out_of_fold[judged].tolist()
    assert some.out_of_fold.mean() == pytest.approx(every.out_of_fold.mean(), abs=0.03)


def test_every_third_item_alone_has_the_candidates_it_has_among_all():
    truth, answers = made_up(100)
    whole = Candidates.of(answers)
    part, some = whole.every(3)
    alone = Candidates.of([answer[::3] for answer in answers])
    for name in ("rows", "labels", "given", "scores", "sizes", "starts", "places"):
        np.testing.assert_array_equal(getattr(part, name), getattr(alone, name))
    np.testing.assert_array_equal(part.members(truth[::3]), whole.members(truth)[some])
    np.testing.assert_array_equal(part.columns(), alone.columns())


def test_the_rule_is_found_on_some_items_and_measured_on_all(monkeypatch):
    truth, answers = made_up(600)
    on_all = LearnedCombiner.fit(truth, answers)
    monkeypatch.setattr(learned, "ENOUGH_TO_TELL", 500)
    on_some = LearnedCombiner.fit(truth, answers)
    assert len(on_some.out_of_fold) == 600
    assert on_some.out_of_fold.mean() == pytest.approx(on_all.out_of_fold.mean(), abs=0.02)


def test_a_large_vocabulary_needs_no_dense_arrays():
    items, labels = 2_000, 1_000_000
    draw = np.random.default_rng(0)
    chosen = draw.integers(0, labels, (items, 3))
    truth = matrix([dict.fromkeys(row[:2].tolist(), 1.0) for row in chosen], labels)
    answers = [matrix([dict.fromkeys(row[k:].tolist(), 0.5) for row in chosen], labels) for k in range(2)]
    tracemalloc.start()
    combiner = LearnedCombiner.fit(truth, answers)
    combiner.apply(answers)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100e6, "one byte a cell would be two gigabytes"
    assert sum(array.nbytes for array in combiner.to_arrays()[1].values()) < 1e6


def test_mistakes_are_said():
    truth, answers = made_up(20)
    with pytest.raises(FrugalError, match=f"1 to {MOST_COMBINED}"):
        LearnedCombiner.fit(truth, [])
    with pytest.raises(FrugalError, match="must be alike"):
        LearnedCombiner.fit(truth, [answers[0], answers[1][:10]])
    with pytest.raises(FrugalError, match="must be alike"):
        LearnedCombiner.fit(truth[:10], answers)
    with pytest.raises(FrugalError, match="at least 2"):
        LearnedCombiner.fit(truth[:1], [own[:1] for own in answers])
    with pytest.raises(FrugalError, match="labels_per_item"):
        LearnedCombiner.fit(truth, answers, labels_per_item=0)
    with pytest.raises(FrugalError, match="Unknown metric"):
        LearnedCombiner.fit(truth, answers, "accurateness")


def test_candidates_against_dictionaries():
    truth, answers = made_up(60)
    candidates = Candidates.of(answers)
    columns = candidates.columns()
    dense = [own.toarray() for own in answers]
    for number, (row, label) in enumerate(zip(candidates.rows, candidates.labels, strict=True)):
        scores = [own[row, label] for own in dense]
        given = [score > 0 for score in scores]
        sizes = [np.count_nonzero(own[row]) for own in dense]
        shown = [s if g else (-1 if n else -2) for s, g, n in zip(scores, given, sizes, strict=True)]
        margins = [s - own[row].max() if g else -1 for s, g, own in zip(scores, given, dense, strict=True)]
        highest = [own[row].max() for own in dense]
        both = np.count_nonzero((dense[0][row] > 0) & (dense[1][row] > 0))
        union = np.count_nonzero((dense[0][row] > 0) | (dense[1][row] > 0))
        expected = [*shown, *margins, *highest, *sizes, sum(given), both, union, sum(scores)]
        np.testing.assert_allclose(columns[number], expected, rtol=1e-6)
    assert len(candidates) == np.count_nonzero((dense[0] > 0) | (dense[1] > 0))
    np.testing.assert_array_equal(
        candidates.members(truth), truth.toarray()[candidates.rows, candidates.labels] > 0
    )


def papers_metric(truth, answers, fold, abstain: bool) -> float:
    """Of the paper's combiner, each fold by the (w, θ) that is chosen on the others."""
    total = 0.0
    for number, chosen in fold_choices(truth, *answers, fold, abstain=abstain).items():
        new = np.flatnonzero(fold == number)
        combined = combine(*(own[new] for own in answers), *chosen, abstain=abstain)
        total += set_metric(truth[new], combined).sum()
    return total / truth.shape[0]


@pytest.mark.parametrize("abstain", [False, True])
def test_the_papers_combiner_is_measured_on_folds_it_has_not_seen(abstain):
    truth, answers = made_up(300)
    fold = np.random.default_rng(3).integers(0, 4, 300)
    total = 0.0
    for number in range(4):
        seen, new = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
        weight, threshold = search(truth[seen], *(own[seen] for own in answers), abstain=abstain)
        combined = combine(*(own[new] for own in answers), weight, threshold, abstain=abstain)
        total += set_metric(truth[new], combined).sum()
    assert papers_metric(truth, answers, fold, abstain) == pytest.approx(total / 300)
    learned = LearnedCombiner.fit(truth, answers)
    assert learned.out_of_fold.mean() > papers_metric(truth, answers, learned.fold, abstain)
