import copy
import datetime
import gzip
from pathlib import Path

import pytest
import yaml
from helpers import ROOT, item, write_lines

from frugalmct.errors import FrugalError
from frugalmct.features import KINDS
from frugalmct.metrics import METRICS
from frugalmct.paper.config import check_yaml, default_budgets, selected_datasets, validate
from frugalmct.paper.config.schema import schema
from frugalmct.paper.config.sources import simulated_parameters, with_parameters
from frugalmct.paper.printed import printed
from frugalmct.predict import PREDICTORS
from frugalmct.sources import SOURCES


@pytest.fixture
def config(tmp_path: Path) -> dict:
    """The least that is valid: one own dataset."""
    data = write_lines(tmp_path / "mine.jsonl", item())
    block = {
        "task": "MIC",
        "source": {"kind": "jsonl", "path": str(data)},
        "prices": {"Google": 15, "Microsoft": 10},
    }
    return {"datasets": {"mine": block}}


def project() -> dict:
    """The configuration that the project comes with."""
    return yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))


def sentence_about(config: object) -> str:
    """The one sentence about a mistake."""
    with pytest.raises(FrugalError) as caught:
        validate(config)
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert sentence.endswith(".")
    return sentence


def changed(config: dict, where: str, value: object) -> dict:
    """A copy with one place set; a value of `...` removes it."""
    config = copy.deepcopy(config)
    *parents, last = where.split("/")
    block = config
    for parent in parents:
        block = block[parent]
    if value is ...:
        del block[last]
    else:
        block[last] = value
    return config


def test_defaults_are_filled_in(config):
    given = copy.deepcopy(config)
    valid = validate(config)
    assert config == given, "what was given stays as it is"
    studies = ("case_study", "training_size", "solver_study", "predictor_study", "datasets")
    assert {key: value for key, value in valid.items() if key not in studies} == {
        "data": "simulated",
        "release_dir": None,
        "release_source": {
            "url": "https://github.com/lchen001/FrugalMCT",
            "commit": "850a2b6fd83155ee2257f2e648e1967b5b157873",
        },
        "missing_services": "error",
        "only": [],
        "scale": 1.0,
        "repeats": 5,
        "train_share": 0.5,
        "validation_share": 0.2,
        "seed": 2022,
        "predictor": "random_forest",
        "predictor_options": {
            "flaml": {"trials": 10, "seconds": None},
            "auto_sklearn": {
                "seconds": 60,
                "memory_mb": 1500,
                "cores": 1,
                "python": ".venv-automl/bin/python",
            },
        },
        "silence": "reject",
        "delta": 0.01,
        "compress_markets": False,
    }
    block = valid["datasets"]["mine"]
    assert (block["base"], block["features"], block["metric"]) == ("auto", "auto", "accuracy")
    assert block["budgets"] == default_budgets({"Google": 15.0, "Microsoft": 10.0})


def test_the_project_config_is_valid_and_has_the_papers_datasets():
    valid = validate(project())
    assert selected_datasets(valid) == list(printed())
    for name, figures in printed().items():
        block = valid["datasets"][name]
        assert block["prices"] == figures["prices_usd_per_10k"]
        assert (block["task"], block["source"]["kind"]) == (figures["task"], "simulated")
        assert block["base"] == "auto"


def test_lists_of_choices_are_those_of_the_code():
    described = schema("config")
    block = described["$defs"]["dataset"]["properties"]
    assert block["metric"]["enum"] == list(METRICS)
    assert block["source"]["properties"]["kind"]["enum"] == SOURCES.names()
    assert block["features"]["examples"] == ["auto", *KINDS, "text"]
    assert sorted(described["properties"]["predictor"]["enum"]) == PREDICTORS.names()
    compared = described["properties"]["predictor_study"]["properties"]["predictors"]
    assert sorted(compared["items"]["enum"]) == sorted(compared["default"]) == PREDICTORS.names()


def test_numbers_become_one_kind_and_budgets_are_sorted(config):
    valid = validate(changed(config, "datasets/mine/budgets", [30, 12.5, 10]))
    assert valid["datasets"]["mine"]["budgets"] == [10.0, 12.5, 30.0]
    assert all(type(price) is float for price in valid["datasets"]["mine"]["prices"].values())
    assert type(validate(config | {"repeats": 3.0})["repeats"]) is int


def test_only_selects_in_the_order_of_the_datasets(config):
    second = changed(config, "datasets/zweite", config["datasets"]["mine"])
    assert selected_datasets(validate(second)) == ["mine", "zweite"]
    assert selected_datasets(validate(second | {"only": ["zweite"]})) == ["zweite"]


MISTAKES = {
    "unknown key": ("sclae", 0.1, "sclae is not a key of the configuration; did you mean 'scale'?"),
    "unknown key of a dataset": ("datasets/mine/Prices", {}, "did you mean 'prices'?"),
    "unknown key of a source": ("datasets/mine/source/file", "x", "datasets.mine.source.file is not a key"),
    "missing key": ("datasets/mine/prices", ..., "datasets.mine has no 'prices'; add it: what each service"),
    "missing path": ("datasets/mine/source/path", ..., "datasets.mine.source has no 'path'"),
    "missing kind": ("datasets/mine/source/kind", ..., "datasets.mine.source has no 'kind'"),
    "no datasets": ("datasets", {}, "datasets is an empty block; it needs at least 1"),
    "datasets missing": ("datasets", ..., "the top level has no 'datasets'"),
    "a list of datasets": ("datasets", ["mine"], "datasets is a list of 1; it must be a block of keys"),
    "data of another kind": ("data", "real", "data is 'real'; known: simulated, release"),
    "unknown predictor": ("predictor", "randomforest", "did you mean 'random_forest'?"),
    "unknown kind": ("datasets/mine/source/kind", "json", "did you mean 'jsonl'?"),
    "unknown metric": ("datasets/mine/metric", "jaccard", "metric is 'jaccard'; known: accuracy"),
    "unknown features": ("datasets/mine/features", "label", "features is 'label'; it must be a word such"),
    "no task": ("datasets/mine/task", "", "task is ''; it must be a word such as MIC, STR, NER"),
    "repeats of zero": ("repeats", 0, "repeats is 0; it must be at least 1"),
    "half a repeat": ("repeats", 2.5, "repeats is 2.5; it must be a whole number"),
    "scale of zero": ("scale", 0, "scale is 0; it must be more than 0"),
    "scale beyond one": ("scale", 1.01, "scale is 1.01; it must be at most 1"),
    "truth as number": ("scale", True, "scale is true; it must be a number"),
    "whole number as text": ("repeats", "5", "without quotes and written out, as in 5."),
    "neither word nor number": ("delta", "big", "delta is 'big'; it must be 'auto' or a number."),
    "number as text": ("scale", "0.5", "scale is '0.5'; it must be a number, without quotes"),
    "exponent as text": ("datasets/mine/prices/Google", "1e-3", "written out, as in 0.001"),
    "train share": ("train_share", 1, "train_share is 1; it must be less than 1"),
    "negative seed": ("seed", -1, "seed is -1; it must be at least 0"),
    "only as text": ("only", "mine", "only is 'mine'; it must be a list such as [a, b]"),
    "only twice": ("only", ["mine", "mine"], "something stands in it twice"),
    "only unknown": ("only", ["Mine"], "only[0] is 'Mine', which is no dataset; did you mean 'mine'?"),
    "service without price": ("datasets/mine/prices/Google", None, "Google is empty; it must be a number"),
    "unpriced service": ("datasets/mine/prices/Google", ..., "has no price of 'Google', which is in "),
    "price of no service": ("datasets/mine/prices/IBM", 1, "datasets.mine.prices.IBM is given, but "),
    "no prices": ("datasets/mine/prices", {}, "datasets.mine.prices is an empty block"),
    "prices of nothing": (
        "datasets/mine/prices",
        {"Google": 0, "Microsoft": 0.0},
        "datasets.mine.prices are all 0; give what a call of each service costs",
    ),
    "negative price": ("datasets/mine/prices/Google", -1, "prices.Google is -1; it must be at least 0"),
    "infinite price": ("datasets/mine/prices/Google", float("inf"), "Google is inf; give a finite number"),
    "no number": ("datasets/mine/prices/Google", float("nan"), "prices.Google is nan; give a finite number"),
    "endless number": ("datasets/mine/prices/Google", 10**400, "hundreds of digits; give a smaller one"),
    "base elsewhere": ("datasets/mine/base", "google", "which has no price; did you mean 'Google'?"),
    "service called auto": ("datasets/mine/prices/auto", 1, "a service named 'auto'"),
    "blank in a service": ("datasets/mine/prices/ IBM", 1, "has the service ' IBM'; a name is"),
    "empty budgets": ("datasets/mine/budgets", [], "budgets is a list of 0; it must list at least 1"),
    "budget too low": ("datasets/mine/budgets", [20, 9], "has 9, but the cheapest service Microsoft"),
    "file missing": ("datasets/mine/source/path", "none.jsonl", "is 'none.jsonl', and there is no such"),
    "a folder": ("datasets/mine/source/path", ".", "which cannot be read (Is a directory)"),
    "braces in a path": ("datasets/mine/source/path", "{x}.jsonl", "braces, stars and line breaks"),
    "a date": ("seed", datetime.date(2022, 1, 1), "seed is a date; write text in quotes"),
    "bytes": ("datasets/mine/task", b"MIC", "datasets.mine.task is a bytes"),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES, ids=MISTAKES)
def test_mistakes_are_answered_in_one_sentence(config, mistake):
    where, value, expected = MISTAKES[mistake]
    sentence = sentence_about(changed(config, where, value))
    assert sentence.startswith("config: ")
    assert expected in sentence


def test_budget_below_a_named_base(config):
    named = changed(config, "datasets/mine/base", "Google")
    assert "has 12, but the base Google alone costs 15" in sentence_about(
        changed(named, "datasets/mine/budgets", [12])
    )
    assert validate(changed(named, "datasets/mine/budgets", [15]))


@pytest.mark.parametrize("other", [None, [], "text", 3, [["datasets", {}]], True])
def test_a_config_that_is_no_mapping(other):
    assert "the top level is" in sentence_about(other)


def test_several_problems_are_counted(config):
    assert sentence_about(config | {"scale": 2, "repeats": 0, "seed": "x"}).endswith("; and 2 more problems.")
    assert sentence_about(config | {"scale": 2, "repeats": 0}).endswith("; and 1 more problem.")


@pytest.mark.parametrize(
    "name",
    [
        "", ".", "..", "a/b", "a\\b", "../up", ".hidden", "-rf", "a b", "end.", "tab\t", "line\n", "naïve",
        "CON", "nul.x", "com1", "x" * 65, "star*", "{dataset}", "a,b", "a:b", "~", "$HOME", "a|b",
    ],
)  # fmt: skip
def test_dataset_names_are_plain_file_names(config, name):
    assert "which is not a plain file name" in sentence_about(
        {"datasets": {name: config["datasets"]["mine"]}}
    )


@pytest.mark.parametrize("name", ["a", "PASCAL", "my_data-2", "v1.2", ("abcdefgh_1234567" * 4), "C++", "0"])
def test_dataset_names_that_are_fine(config, name):
    assert list(validate({"datasets": {name: config["datasets"]["mine"]}})["datasets"]) == [name]


def test_dataset_names_that_are_one_file_on_some_systems(config):
    block = config["datasets"]["mine"]
    assert "has both 'Coco' and 'COCO'" in sentence_about({"datasets": {"Coco": block, "COCO": block}})


def test_keys_that_yaml_does_not_read_as_text(config):
    assert "the key false, which is not text; put it in quotes; YAML reads" in sentence_about(
        {"datasets": {**config["datasets"], False: config["datasets"]["mine"]}}
    )
    assert "has the key 2022, which is not text" in sentence_about(
        {"datasets": {2022: config["datasets"]["mine"]}}
    )


def test_a_block_within_itself():
    endless: dict = {}
    endless["datasets"] = endless
    assert "levels deep" in sentence_about(endless)


def test_a_missing_file_matters_only_when_its_dataset_is_run(config):
    other = changed(config["datasets"], "mine/source/path", "none.jsonl")["mine"]
    both = {"datasets": {**config["datasets"], "other": other}}
    assert "datasets.other.source.path is 'none.jsonl'" in sentence_about(both)
    assert validate(both | {"only": ["mine"]})


def test_services_are_compared_with_the_file_also_when_packed(config, tmp_path):
    path = tmp_path / "mine.jsonl.gz"
    path.write_bytes(gzip.compress((tmp_path / "mine.jsonl").read_bytes()))
    packed = changed(config, "datasets/mine/source/path", str(path))
    assert validate(packed)
    assert "has no price of 'Google'" in sentence_about(changed(packed, "datasets/mine/prices/Google", ...))


@pytest.mark.parametrize("start", [b"", b"\n", b"{", b"[1]\n", b"\xff\xfe", b"\x1f\x8bnot gzip", b"{}\n"])
def test_a_file_that_is_no_jsonl_is_left_to_its_loader(config, tmp_path, start):
    (tmp_path / "mine.jsonl").write_bytes(start)
    assert validate(config)


@pytest.mark.parametrize(
    ("where", "value", "expected"),
    [
        ("labels", 7, "source.labels is 7; it must be a list such as [a, b] or a block of keys"),
        ("labels", {"style": "runes", "count": 30}, "source.labels.style is 'runes'; known: characters"),
        ("labels", ["a", "a"], "source.labels is a list of 2; something stands in it twice"),
        ("blind", 1.5, "source.blind is 1.5; it must be at most 1"),
        ("blnid", 1.5, "did you mean 'blind'?"),
        ("items", ..., "source has no 'items'; add it: how many items"),
    ],
)
def test_mistakes_in_the_simulations_parameters(where, value, expected):
    """Of a dataset that the package does not know: for COCO it would fill in what is missing."""
    config = with_parameters(project())
    config["datasets"] = {"mine": config["datasets"]["COCO"]}
    assert expected in sentence_about(changed(config, f"datasets/mine/source/{where}", value))


def test_the_package_brings_the_parameters_of_the_papers_datasets():
    valid, given = validate(project()), with_parameters(project())
    assert list(simulated_parameters()) == list(printed())
    assert validate(given) == valid, "the same, written out"
    for name, parameters in simulated_parameters().items():
        assert valid["datasets"][name]["source"] == {"kind": "simulated"} | parameters


def test_a_simulated_dataset_of_ones_own_needs_its_parameters():
    block = project()["datasets"]["COCO"]
    sentence = sentence_about({"datasets": {"coco_2": block}})
    assert "datasets.coco_2.source has no parameters" in sentence and "did you mean 'COCO'?" in sentence
    own = {"kind": "simulated"} | simulated_parameters()["COCO"] | {"items": 77}
    assert validate({"datasets": {"mine": block | {"source": own}}})["datasets"]["mine"]["source"] == own


def test_simulated_services_need_the_same_prices():
    assert "has no price of 'Google', which is in source.services" in sentence_about(
        changed(project(), "datasets/COCO/prices/Google", ...)
    )
    assert "prices.IBM is given, but source.services has no such service" in sentence_about(
        changed(project(), "datasets/COCO/prices/IBM", 1)
    )


class TestDefaultBudgets:
    @pytest.mark.parametrize("dataset", printed())
    def test_of_the_papers_services(self, dataset):
        prices = printed()[dataset]["prices_usd_per_10k"]
        budgets = default_budgets(prices, next(iter(prices)))
        assert budgets == sorted(set(budgets))
        assert 12 <= len(budgets) <= 16
        assert budgets[0] == min(prices.values())
        assert budgets[-1] > min(prices.values()) + max(prices.values())
        assert set(prices.values()) <= set(budgets)

    @pytest.mark.parametrize(
        "prices",
        [
            {"a": 0.0}, {"a": 5.0}, {"a": 0.0, "b": 0.0}, {"a": 0.0, "b": 1.0}, {"a": 7.0, "b": 7.0},
            {"a": 5e-324, "b": 3.75e-6}, {"a": 1e9, "b": 1e-9}, {"a": 1000.1, "b": 1000.2},
            {str(number): float(number) for number in range(1, 30)},
        ],
        ids=str,
    )  # fmt: skip
    def test_of_odd_prices(self, prices):
        for base in ("auto", *prices):
            budgets = default_budgets(prices, base)
            start = min(prices.values()) if base == "auto" else prices[base]
            assert budgets[0] == start
            assert budgets == sorted(set(budgets))
            assert budgets[-1] >= start + max((p for s, p in prices.items() if s != base), default=0) or (
                base == "auto"
            )


QUALITY = '{"id": "1", "quality": {"a": 1, "b": 0}, "costs": {"a": 2, "b": 1}}'
NO_COSTS = '{"id": "1", "quality": {"a": 1, "b": 0}}'


def call_config(tmp_path: Path, line: str, **block) -> dict:
    """A dataset of one item whose calls have costs, or whose answer a quality."""
    (tmp_path / "calls.jsonl").write_text(line + "\n", encoding="utf-8")
    source = {"kind": "jsonl", "path": str(tmp_path / "calls.jsonl")}
    return {"datasets": {"calls": {"task": "LLM", "source": source} | block}}


class TestCostsPerCall:
    def test_a_file_with_costs_needs_no_prices_and_no_budgets(self, tmp_path):
        block = validate(call_config(tmp_path, QUALITY))["datasets"]["calls"]
        assert block["per_call"] and block["prices"] == {} and block["budgets"] == []
        assert block["unit"] == "the unit of the recorded costs"
        labels = '{"id": "1", "truth": ["x"], "predictions": {"a": []}, "costs": {"a": 2}}'
        assert validate(call_config(tmp_path, labels))["datasets"]["calls"]["per_call"]

    def test_qualities_without_costs_need_prices(self, tmp_path):
        block = validate(call_config(tmp_path, NO_COSTS, prices={"a": 2, "b": 1}))["datasets"]["calls"]
        assert block["per_call"] and block["prices"] == {"a": 2.0, "b": 1.0}
        assert block["unit"] == "USD per 10,000 items"
        sentence = sentence_about(call_config(tmp_path, NO_COSTS))
        assert "datasets.calls has no 'prices', and its file no costs; add one of them" in sentence
        assert "has no price of 'b'" in sentence_about(call_config(tmp_path, NO_COSTS, prices={"a": 2}))

    @pytest.mark.parametrize("base", ["none", "auto", "a", ["a", "b"]])
    def test_whom_to_ask_first(self, tmp_path, base):
        assert validate(call_config(tmp_path, QUALITY, base=base))["datasets"]["calls"]["base"] == base

    @pytest.mark.parametrize(
        ("block", "words"),
        [
            ({"base": "c"}, "datasets.calls.base has 'c', which is no service;"),
            ({"base": ["a", "none"]}, "datasets.calls.base has 'none', which is no service;"),
            ({"base": []}, "datasets.calls.base is a list of 0; it must list at least 1"),
            ({"features": "embedding"}, "datasets.calls.features is 'embedding';"),
        ],
    )
    def test_what_does_not_fit(self, tmp_path, block, words):
        assert words in sentence_about(call_config(tmp_path, QUALITY, **block))

    def test_labels_with_prices_and_nobody_asked_first_go_that_way(self, config):
        assert not validate(config)["datasets"]["mine"]["per_call"]
        assert validate(changed(config, "datasets/mine/base", "none"))["datasets"]["mine"]["per_call"]

    def test_only_then(self, config):
        several = changed(config, "datasets/mine/base", ["Google", "Microsoft"])
        assert "datasets.mine.base is a list of 2, which only a file" in sentence_about(several)
        text = changed(config, "datasets/mine/features", "text")
        assert "datasets.mine.features is 'text', which only a file" in sentence_about(text)
        papers = changed(project(), "datasets/PASCAL/base", "none")
        assert "datasets.PASCAL.base is 'none', which only a file" in sentence_about(papers)
        unpriced = changed(project(), "datasets/PASCAL/prices", ...)
        assert "datasets.PASCAL has no 'prices'; add it" in sentence_about(unpriced)

    def test_it_has_no_study(self, tmp_path):
        config = call_config(tmp_path, QUALITY) | {"training_size": {"calls": 2}}
        assert "whose calls have costs of their own" in sentence_about(config)

    def test_a_file_that_cannot_be_read_is_said_to_be_so(self, tmp_path):
        config = call_config(tmp_path, QUALITY)
        (tmp_path / "calls.jsonl").unlink()
        assert "and there is no such file" in sentence_about(config)


class TestYamlFiles:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("seed: [1\nonly: []\n", "line 2, column 5: is not valid YAML"),
            ("seed: 1\n\tonly: []\n", "line 2"),
            ("a: 'x\n", "is not valid YAML"),
            ("seed: 1\nscale: 1\nseed: 2\n", "line 3: the key 'seed' is given twice"),
            ("datasets:\n  a: {task: MIC}\n  a: {task: NER}\n", "line 3: the key 'a' is given twice"),
            ("- 1\n- 2\n", "has no keys at top level"),
            ("", "has no keys at top level"),
            ("just text", "has no keys at top level"),
            ("a: \x07", "is not valid YAML"),
            ("a: &x [*x", "is not valid YAML"),
            ("a: *nothing", "undefined alias"),
        ],
    )
    def test_broken_ones_are_answered_in_one_sentence(self, tmp_path, text, expected):
        path = tmp_path / "config.yaml"
        path.write_text(text, encoding="utf-8")
        with pytest.raises(FrugalError) as caught:
            check_yaml(path)
        assert expected in str(caught.value)
        assert str(path) in str(caught.value)
        assert "\n" not in str(caught.value)

    def test_what_is_not_text(self, tmp_path):
        (tmp_path / "config.yaml").write_bytes(b"a: \xff\xfe")
        with pytest.raises(FrugalError, match="is not UTF-8 text"):
            check_yaml(tmp_path / "config.yaml")
        with pytest.raises(FrugalError, match="cannot be read"):
            check_yaml(tmp_path)

    @pytest.mark.parametrize(
        "text", ["a: 1", '{"a": {"b": 1}}', "a: &x {k: 1}\nb: *x\nc: {<<: *x, k: 2}\n", "a: &x [*x]"]
    )
    def test_good_ones(self, tmp_path, text):
        (tmp_path / "config.yaml").write_text(text, encoding="utf-8")
        check_yaml(tmp_path / "config.yaml")

    def test_a_missing_one_is_not_its_business(self, tmp_path):
        check_yaml(tmp_path / "config.yaml")
