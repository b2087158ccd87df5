import numpy as np
import pytest

from frugalmct.paper.printed import printed, printed_of

# Read off the paper's tables: task, items, label occurrences, distinct labels, all services' price,
# best service's accuracy and cost, FrugalMCT's cost at that accuracy, saving.
PRINTED = {
    "PASCAL": ("MIC", 11540, 16682, 20, 31.01, 74.8, 10, 1.4, 86),
    "MIR": ("MIC", 25000, 92909, 24, 31.01, 41.2, 10, 4.2, 58),
    "COCO": ("MIC", 123287, 357662, 80, 31.01, 47.5, 10, 3, 70),
    "MTWI": ("STR", 9742, 867727, 4404, 275.01, 67.9, 210, 30, 86),
    "ReCTS": ("STR", 20000, 555286, 4134, 275.01, 61.3, 210, 78, 63),
    "LSVT": ("STR", 30000, 1878682, 4852, 275.01, 53.8, 210, 67, 68),
    "CONLL": ("NER", 10898, 43968, 9910, 43.01, 52.6, 3, 1.5, 50),
    "ZHNER": ("NER", 16915, 147164, 4375, 43.01, 61.3, 30, 0.7, 98),
    "GMB": ("NER", 47830, 116225, 14376, 43.01, 50.1, 30, 4.1, 80),
}


def test_nine_datasets_in_the_order_of_the_paper():
    assert list(printed()) == list(PRINTED)


def test_dataset_that_the_paper_does_not_have():
    assert printed_of("mine") == {}


@pytest.mark.parametrize("dataset", PRINTED)
def test_numbers_are_those_printed(dataset):
    facts = printed_of(dataset)
    best = facts["paper"]["best_api"]
    assert PRINTED[dataset] == (
        facts["task"],
        facts["items"],
        facts["label_occurrences"],
        facts["distinct_labels"],
        pytest.approx(sum(facts["prices_usd_per_10k"].values())),
        best["accuracy_pct"],
        best["cost"],
        facts["paper"]["frugalmct_cost_at_that_accuracy"],
        facts["paper"]["saving_pct"],
    )


@pytest.mark.parametrize("dataset", PRINTED)
def test_facts_agree_with_each_other(dataset):
    facts = printed_of(dataset)
    prices, best = facts["prices_usd_per_10k"], facts["paper"]["best_api"]
    target, released = facts["simulation_target_accuracy"], facts["release_measured"]
    assert prices[best["service"]] == best["cost"]
    assert list(prices) == list(target) == list(released["accuracy_mean"])
    assert max(target, key=target.get) == best["service"]
    assert target[best["service"]] == pytest.approx(best["accuracy_pct"] / 100, abs=1e-4)
    assert max(released["accuracy_mean"].values()) <= released["oracle_accuracy"] <= 1
    correlation = np.array(released["accuracy_correlation"])
    assert correlation.shape == (4, 4)
    np.testing.assert_array_equal(correlation, correlation.T)
    np.testing.assert_array_equal(np.diag(correlation), 1)


def test_a_number_deep_inside():
    assert printed_of("ZHNER")["paper"]["ensembles_accuracy_pct_and_cost"]["frugalmct"] == [71.8, 36.8]
    assert printed_of("GMB")["paper"]["predictor"]["rmse_dummy"] == 0.40
