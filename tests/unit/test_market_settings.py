"""Settings travel: what a market was made with is in its file, and training goes by it."""

import json
from dataclasses import replace

import numpy as np
import pytest
from helpers import ROOT, small_market
from live_market import photos

from frugalmct import Strategy
from frugalmct.errors import FrugalError
from frugalmct.made import learning_for
from frugalmct.market import Market, MarketSettings
from frugalmct.sources import load_market

SAID = MarketSettings(2, "f1", "labels", False, "EUR per call", "2019 to 2020")
OPTIONS = {"options": {"trees": 5, "leaf": 5}, "base": "cheap"}


def test_settings_are_in_the_file(tmp_path):
    small_market(settings=SAID).save(tmp_path / "m.npz")
    market = Market.load(tmp_path / "m.npz")
    assert market.settings == SAID
    # Parts of a market are read like the whole.
    assert market.subset([0]).settings == market.with_services(market.services[:1]).settings == SAID


def test_a_file_from_before_settings_were_kept_still_loads(tmp_path):
    small_market().save(tmp_path / "m.npz")
    with np.load(tmp_path / "m.npz") as file:
        assert "settings" not in json.loads(bytes(file["header"]))
    assert Market.load(tmp_path / "m.npz").settings == MarketSettings()


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ([], "what it was made with is"),
        ({"metric": "f1"}, "has no 'labels_per_item'"),
        (SAID.to_dict() | {"labels_per_item": 0}, "labels_per_item is 0"),
        (SAID.to_dict() | {"labels_per_item": True}, "labels_per_item is true"),
        (SAID.to_dict() | {"metric": "beauty"}, "metric is 'beauty'; known: "),
        (SAID.to_dict() | {"features": 3}, "features"),
        (SAID.to_dict() | {"abstain": "yes"}, "abstain is 'yes'; it must be true or false"),
        (SAID.to_dict() | {"unit": "x" * 501}, "unit is 501 characters long"),
        (SAID.to_dict() | {"more": 1}, "has unknown fields: 'more'"),
    ],
)
def test_settings_that_are_none_are_refused(tmp_path, settings, sentence):
    small_market(settings=SAID).save(tmp_path / "m.npz")
    with np.load(tmp_path / "m.npz") as file:
        arrays = dict(file)
    header = json.loads(bytes(arrays["header"])) | {"settings": settings}
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    np.savez(tmp_path / "m.npz", **arrays)
    with pytest.raises(FrugalError) as error:
        Market.load(tmp_path / "m.npz")
    assert sentence in str(error.value) and "snakemake --force" in str(error.value)


def test_a_source_says_what_its_block_says():
    block = {
        "task": "MIC",
        "source": {"kind": "jsonl", "path": str(ROOT / "examples" / "own-data" / "tickets.jsonl")},
        "prices": {"Keyword": 0.1, "Tagger": 4, "Expert": 20},
    }
    assert load_market("tickets", block).settings == MarketSettings()
    more = {"features": "auto", "metric": "f1", "labels_per_item": 3, "unit": "EUR", "period": "2020"}
    found = load_market("tickets", block | more | {"silence": "reject"}).settings
    assert found == MarketSettings(3, "f1", None, False, "EUR", "2020")
    of_one_label = block | {"source": {"kind": "frugalml"}}
    assert MarketSettings.of_block(of_one_label).labels_per_item == 1


def test_training_goes_by_the_market_unless_told_otherwise(tmp_path):
    market = photos(200)
    object.__setattr__(market, "settings", SAID)
    market.save(tmp_path / "m.npz")
    made = Strategy.fit(Market.load(tmp_path / "m.npz"), [5.0], **OPTIONS)
    spoken = {"labels_per_item": 2, "metric": "f1", "features": "labels"}
    by_hand = Strategy.fit(photos(200), [5.0], unit="EUR per call", **spoken, **OPTIONS)
    assert made.plans == by_hand.plans and made.metric == "f1"
    assert (made.made.labels_per_item, made.made.abstain, made.made.features) == (2, True, "labels")
    assert (made.made.unit, made.made.period) == ("EUR per call", "2019 to 2020")
    made.save(tmp_path / "s.npz")
    assert Strategy.load(tmp_path / "s.npz").made == made.made
    told = Strategy.fit(market, [5.0], metric="accuracy", labels_per_item=None, unit="USD", **OPTIONS)
    assert (told.metric, told.made.labels_per_item, told.made.unit) == ("accuracy", None, "USD")


@pytest.mark.parametrize(("said", "abstain"), [(None, False), (True, True), (False, False)])
def test_silence_is_what_the_papers_method_goes_by(said, abstain):
    market = photos(100)
    object.__setattr__(market, "settings", replace(SAID, abstain=said))
    letter = Strategy.fit(market, [5.0], method="paper", **OPTIONS)
    assert letter.made.abstain is abstain, "the letter unless the market says otherwise"


@pytest.mark.parametrize("abstain", [True, False])
def test_the_market_s_silence_is_of_the_paper_s_method(abstain):
    market = photos(100)
    object.__setattr__(market, "settings", MarketSettings(abstain=abstain))
    assert Strategy.fit(market, [5.0], method="paper", **OPTIONS).made.abstain is abstain
    assert learning_for("plus", market, None, {}).abstain is True
    assert learning_for("paper", market, None, {"abstain": not abstain}).abstain is not abstain
