import numpy as np
import pytest
from study_cases import COMBINERS, case_at

from frugalmct.errors import FrugalError
from frugalmct.paper.stages.plans import plan_near, save_plans
from frugalmct.paper.studies.case import READERS, Case
from frugalmct.plans import Plan
from frugalmct.sparse import set_sizes


def small_case(budget: float = 5.0) -> Case:
    return case_at(budget, 1.0, 3.0, 11.0)


def test_a_swept_budget_has_its_own_plan_and_another_that_of_its_neighbour():
    found = [Plan(1.0, 0, 0.0), Plan(6.0, 1, 0.2), Plan(20.0, 2, 0.3)]
    prices = np.array([1.0, 4.0, 10.0])
    assert plan_near(found, prices, 6) == Plan(6.0, 1, 0.2)
    assert plan_near(found, prices, 7) == Plan(7.0, 1, 0.2)
    assert plan_near(found, prices, 19) == Plan(19.0, 2, 0.3)
    assert plan_near(found, prices, 3.9) == Plan(3.9, 0, 0.0), (
        "the nearest plan's base would be too expensive"
    )
    with pytest.raises(FrugalError, match="costs at least 1; raise the study's budget"):
        plan_near(found, prices, 0.5)


def test_choices_reached_and_cost_by_hand():
    """At budget 3 half of the items can have the cheap add-on: those that gain from it."""
    case = small_case(3.0)
    assert case.dual_price == pytest.approx(0.0), (
        "what is not gained is not called, so the budget never binds"
    )
    assert case.choices.tolist() == [0, 1, 0, 1]
    assert case.reached(case.choices).tolist() == [1, 1, 1, 1]
    assert case.cost(case.choices) == 3.0
    assert case.choices_at(0.2).tolist() == [0, 0, 0, 0], "0.4 gained is not worth 4 at that dual price"


def test_answers_are_those_of_the_chosen_combination():
    case = small_case()
    answers = case.test.combined(COMBINERS, np.array([2, 0, 0, 2]))
    assert set_sizes(answers).tolist() == [2, 1, 1, 2]
    assert [answers[n].indices.tolist() for n in range(4)] == [[0, 2], [1], [0], [1, 2]]
    assert answers[0].data == pytest.approx([0.75, 0.3])


def test_answers_agree_with_the_accuracy_table():
    case = small_case()
    assert case.answers.toarray().astype(bool).tolist() == case.test.truth.toarray().astype(bool).tolist()


def test_a_case_is_read_from_a_jobs_files(tmp_path):
    case = small_case()
    files = {name: tmp_path / name for name in READERS}
    for name in ("market", "split", "combination", "estimates"):
        getattr(case, name).save(files[name])
    save_plans(case.plans, files["plans"])
    loaded = Case.load("small", 2, files, {**case.settings, "prices": case.market.price_list})
    assert (loaded.dataset, loaded.repetition, loaded.budget) == ("small", 2, 5.0)
    assert loaded.plan == case.plan and loaded.choices.tolist() == case.choices.tolist()
    assert (loaded.answers != case.answers).nnz == 0
