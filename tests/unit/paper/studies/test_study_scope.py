import pytest

from frugalmct.errors import FrugalError
from frugalmct.paper.config import validate
from frugalmct.paper.config.schema import schema
from frugalmct.paper.studies.registry import STUDIES
from frugalmct.paper.studies.scope import LIGHT as LIGHT_STUDIES
from frugalmct.paper.studies.scope import studied, studied_budgets, studied_calls

OWN = {"prices": {"free": 0.01, "fair": 5.0}, "base": "auto", "budgets": [0.01, 2.0, 4.0]}
COCO = {"prices": {"SSD": 0.01, "Microsoft": 10.0}, "base": "SSD", "budgets": [0.01, 6.0]}
DEAR = {"prices": {"SSD": 8.0, "Microsoft": 10.0}, "base": "SSD", "budgets": [9.0, 12.0, 15.0]}


STUDY, LIGHT = "training_size", "worked_examples"


def settings(only: list[str], **datasets: dict) -> dict:
    return {"only": only, "datasets": {name: {"studies": []} | block for name, block in datasets.items()}}


@pytest.mark.parametrize(
    ("only", "expected"),
    [
        ([], {"COCO": 6.0, "mine": 2.0}),
        (["COCO"], {"COCO": 6.0}),
        (["mine"], {"mine": 2.0}),
        (["PASCAL"], {"PASCAL": 2.0}),
        (["PASCAL", "mine"], {"mine": 2.0}),
    ],
    ids=["all", "the wanted", "an own", "another", "an own rather than another"],
)
def test_what_a_light_study_looks_at(only, expected):
    given = settings(only, PASCAL=OWN, COCO=COCO, mine=OWN)
    assert studied(LIGHT, given, {"COCO": 6, "MTWI": 15}) == expected


@pytest.mark.parametrize(
    ("only", "asked", "expected"),
    [
        ([], [], {"COCO": 6.0}),
        ([], [STUDY], {"COCO": 6.0, "mine": 2.0}),
        ([], ["all"], {"COCO": 6.0, "mine": 2.0}),
        ([], ["runtime"], {"COCO": 6.0}),
        (["mine"], [], {}),
        (["mine"], [STUDY], {"mine": 2.0}),
        (["PASCAL", "mine"], [], {"PASCAL": 2.0}),
    ],
)
def test_other_studies_of_own_datasets_are_asked_for(only, asked, expected):
    given = settings(only, PASCAL=OWN, COCO=COCO, mine=OWN | {"studies": asked})
    assert studied(STUDY, given, {"COCO": 6, "MTWI": 15}) == expected


@pytest.mark.parametrize(
    ("study", "asked", "expected"),
    [
        (STUDY, [], []),
        (STUDY, [STUDY], ["calls"]),
        (STUDY, ["all"], ["calls"]),
        (STUDY, ["robustness"], []),
        ("ablation", ["all"], []),
    ],
)
def test_studies_of_calls_are_asked_for_and_made_where_they_apply(study, asked, expected):
    given = settings([], COCO=COCO, calls={"per_call": True, "studies": asked, "budgets": [], "prices": {}})
    assert studied_calls(study, given) == expected
    assert studied(study, given, {"calls": None}) == {"COCO": 6.0}, "a way of its own"


def test_every_study_can_be_asked_for():
    described = schema("config")["$defs"]["dataset"]["properties"]["studies"]
    assert described["items"]["enum"] == ["all", *STUDIES]
    assert set(LIGHT_STUDIES) <= set(STUDIES)


def test_a_budget_that_does_not_pay_for_the_base_is_replaced():
    assert studied(STUDY, settings([], COCO=DEAR), {"COCO": 6}) == {"COCO": 12.0}


def test_a_budget_that_pays_for_the_base_alone_leaves_nothing_to_study():
    assert studied(STUDY, settings([], COCO=DEAR), {"COCO": 8}) == {"COCO": 12.0}


def test_a_wanted_budget_need_not_be_among_the_swept():
    assert studied(STUDY, settings([], mine=OWN), {"mine": 3.3}) == {"mine": 3.3}


@pytest.fixture
def config(tmp_path):
    path = tmp_path / "own.jsonl"
    path.write_text('{"id": "a", "truth": [], "predictions": {"free": [], "fair": []}}\n', encoding="utf-8")
    block = {"task": "MIC", "source": {"kind": "jsonl", "path": str(path)}, "prices": {"free": 1, "fair": 5}}
    return {"datasets": {"mine": block}}


def test_defaults_need_no_such_dataset(config):
    valid = validate(config)
    assert valid["case_study"] == {"dataset": "COCO", "budget": 6}
    assert studied(LIGHT, valid, valid["training_size"]) == {"mine": valid["datasets"]["mine"]["budgets"][7]}


def test_half_a_block_is_completed(config):
    valid = validate(config | {"case_study": {"dataset": "mine"}, "solver_study": {"time_limit": 5}})
    assert valid["case_study"] == {"dataset": "mine", "budget": 6}
    assert valid["solver_study"]["items"][-1] == 61643 and valid["solver_study"]["time_limit"] == 5


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            {"case_study": {"dataset": "mien"}},
            "case_study.dataset has 'mien', which is no dataset; did you mean",
        ),
        ({"training_size": {"nine": 3}}, "training_size has 'nine', which is no dataset"),
        ({"case_study": {"dataset": "mine", "budget": 0.5}}, "case_study.budget is 0.5, but the cheapest"),
        ({"training_size": {"mine": 0.5}}, "training_size.mine is 0.5, but the cheapest service free alone"),
        ({"case_study": {"budgets": 3}}, "did you mean 'budget'?"),
        ({"solver_study": {"items": []}}, "it must list at least 1"),
        ({"solver_study": {"items": [0]}}, "solver_study.items[0] is 0; it must be at least 1"),
        ({"solver_study": {"time_limit": 0}}, "it must be more than 0"),
    ],
)
def test_mistakes_are_answered(config, change, words):
    with pytest.raises(FrugalError) as caught:
        validate(config | change)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("budgets", "expected"),
    [([1.0], [1.0]), ([1.0, 2.0], [1.0, 2.0]), (list(range(14)), [2, 4, 7]), (list(range(6)), [1, 2, 3])],
)
def test_predictors_are_compared_at_up_to_three_budgets_of_the_lower_half(budgets, expected):
    assert studied_budgets(budgets) == expected


def test_datasets_may_be_wanted_without_a_budget():
    assert studied(STUDY, settings([], PASCAL=OWN, COCO=COCO), {"COCO": None}) == {"COCO": 6.0}
