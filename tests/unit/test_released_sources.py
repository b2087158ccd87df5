import gzip
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
from released import SHARED_DATA, answers, real_folder, truth, write_frugalmct, write_frugalml

from frugalmct.errors import FrugalError
from frugalmct.market import Market
from frugalmct.sources import load_market

MIC_PRICES = {"SSD": 0.01, "Everypixel": 6.0, "Microsoft": 10.0, "Google": 15.0}
TRUE = {"b": ["car", "dog"], "a": ["person"], "c": ["dog"]}
GOOGLE = {"a": [("person", 0.5), ("person", 0.75)], "b": [("car", 0.9), ("tree", 0.8)], "c": []}
MICROSOFT = {"b": [("dog", 1.0)], "a": [("car", 0.25)], "c": [("dog", 0.5), ("sky", 0.4)]}


def block(folder: Path, prices: dict[str, float], task: str = "MIC", kind: str = "frugalmct") -> dict:
    return {"task": task, "source": {"kind": kind, "path": str(folder)}, "prices": prices}


def sets_of(market: Market, service: str | None = None) -> dict[str, dict[str, float]]:
    """Item -> label -> score, of a service or of the truth."""
    matrix = market.truth if service is None else market.scores[market.service_index(service)]
    rows = (matrix[row] for row in range(len(market)))
    return {
        str(item): dict(zip(market.labels[row.indices].tolist(), row.data.tolist(), strict=True))
        for item, row in zip(market.items, rows, strict=True)
    }


@pytest.fixture
def folder(tmp_path) -> Path:
    return write_frugalmct(tmp_path / "mlserviceperformance_PASCAL", TRUE, {0: GOOGLE, 2: MICROSOFT})


PRICES = {"Microsoft": 10.0, "Google": 15.0}


def test_items_are_found_by_name_and_services_by_index(folder):
    market = load_market("PASCAL", block(folder, PRICES))
    assert market.items.tolist() == ["b", "a", "c"], "the order of the names"
    assert market.services == ("Microsoft", "Google") and market.prices.tolist() == [10.0, 15.0]
    assert market.data == "release"
    assert sets_of(market) == {"b": {"car": 1, "dog": 1}, "a": {"person": 1}, "c": {"dog": 1}}
    assert sets_of(market, "Microsoft") == {"b": {"dog": 1.0}, "a": {"car": 0.25}, "c": {"dog": 0.5}}


def test_labels_outside_the_map_are_dropped_and_repeated_ones_count_once(folder):
    market = load_market("PASCAL", block(folder, PRICES))
    assert sets_of(market, "Google") == {"b": {"car": 0.9}, "a": {"person": 0.75}, "c": {}}
    assert market.labels.tolist() == ["car", "dog", "person"]


def test_night_is_no_label_of_mir(tmp_path):
    true = {"a": ["night", "sky"], "b": ["night"], "c": ["sky"]}
    given = {"a": [("night", 0.9), ("sky", 0.8)], "b": [], "c": [("sky", 0.7)]}
    places = {"night": 0, "sky": 1}
    mir, other = (
        load_market(name, block(write_frugalmct(folder, true, {0: given}, label_map=places), {"Google": 15}))
        for name, folder in (
            ("MIR", tmp_path / "mlserviceperformance_MIR"),
            ("COCO", tmp_path / "mlserviceperformance_COCO"),
        )
    )
    assert mir.labels.tolist() == ["sky"] and sets_of(mir)["b"] == {}
    assert other.labels.tolist() == ["night", "sky"]


def test_zipped_answers_are_read(folder):
    plain = folder / "Model0_PredictedLabel.txt"
    before = load_market("PASCAL", block(folder, PRICES))
    with zipfile.ZipFile(plain.with_suffix(".zip"), "w") as archive:
        archive.writestr("Model0_PredictedLabel.txt", plain.read_text(encoding="utf-8"))
        archive.writestr("__MACOSX/Model0_PredictedLabel.txt", b"\xff")
    plain.unlink()
    assert sets_of(load_market("PASCAL", block(folder, PRICES)), "Google") == sets_of(before, "Google")
    plain.with_suffix(".zip").write_bytes(b"PK no zip")
    with pytest.raises(FrugalError, match=r"Model0_PredictedLabel\.zip: is not a readable zip"):
        load_market("PASCAL", block(folder, PRICES))


def test_scene_text_becomes_characters_and_digits(tmp_path):
    folder = write_frugalmct(
        tmp_path / "MTWI",
        {"a": ["清仓 50%"], "b": ["℃"]},
        {1001: {"a": [("清0", 0.5), ("0", 0.75)], "b": [("仓x…", 0.25)]}},
        task="STR",
        label_map={"清": 0, "℃": 1},
    )
    market = load_market("MTWI", block(folder, {"PP-OCR": 0.01}, "STR"))
    assert sets_of(market) == {"a": dict.fromkeys("清仓50", 1.0), "b": {"℃": 1.0}}
    assert sets_of(market, "PP-OCR") == {"a": {"清": 0.5, "0": 0.75}, "b": {"仓": 0.25}}


def test_entities_keep_their_type(tmp_path):
    folder = write_frugalmct(
        tmp_path / "CONLL",
        {"0": ["eu_org", "brussels_loc", "brussels_loc"], "1": ["german_misc"]},
        {100001: {"0": [("eu_loc", 0.5)], "1": [("x", 0.5)]}},
        task="NER",
    )
    market = load_market("CONLL", block(folder, {"spaCy": 0.01}, "NER"))
    assert sets_of(market) == {"0": {"eu_org": 1.0, "brussels_loc": 1.0}, "1": {}}
    assert sets_of(market, "spaCy") == {"0": {"eu_loc": 0.5}, "1": {}}


def test_one_label_data_become_sets_of_one(tmp_path):
    prices = {"CNN": 0.01, "Microsoft": 10.0}
    market = load_market("RAFDB", block(write_frugalml(tmp_path / "RAFDB"), prices, "FER", "frugalml"))
    assert market.items.tolist() == ["face_a", "face_b", "face_c"]
    assert sets_of(market) == {"face_a": {"3": 1}, "face_b": {"1": 1}, "face_c": {"0": 1}}
    assert sets_of(market, "CNN") == {"face_a": {"3": 0.5}, "face_b": {"1": 0.25}, "face_c": {"1": 1.0}}
    assert sets_of(market, "Microsoft") == {
        "face_a": {"3": 1.0},
        "face_b": {"0": 0.125},
        "face_c": {"0": 0.75},
    }


def test_a_score_past_one_by_rounding_is_one(folder):
    (folder / "Model0_PredictedLabel.txt").write_text(
        answers(GOOGLE | {"c": [("dog", 1.0000001192)]}), encoding="utf-8"
    )
    assert sets_of(load_market("PASCAL", block(folder, PRICES)), "Google")["c"] == {"dog": 1.0}


def test_a_share_of_the_items_can_be_taken(tmp_path):
    true = {str(number): ["car"] for number in range(100)}
    given = {item: [("car", 0.5)] for item in true}
    source = block(write_frugalmct(tmp_path / "x", true, {0: given}), {"Google": 15})
    half, tenth = (load_market("x", source, seed=1, scale=scale).items.tolist() for scale in (0.5, 0.1))
    assert len(half) == 50 and set(tenth) < set(half)


# File and its new content (None: removed) -> what is said.
BAD = {
    "no meta": ("meta.csv", None, r"meta\.csv: no such file"),
    "meta without rows": ("meta.csv", b"Index,Service\n", r"meta\.csv: lists no service"),
    "meta without an index": (
        "meta.csv",
        b"I,S\nx,Google\n",
        r"meta\.csv, line 2: 'x,Google' does not",
    ),
    "index twice": ("meta.csv", b"I,S\n0,Google\n0,Microsoft\n", r"the index 0 is given twice"),
    "unknown service": (
        "meta.csv",
        b"I,S\n0,Google\n7,Bing\n",
        r"has no service 'Microsoft'; its services: Google, Bing",
    ),
    "missing answers": (
        "Model0_PredictedLabel.txt",
        None,
        r"The answers of PASCAL's Google are missing: there is no .*Model0_PredictedLabel\.txt; get",
    ),
    "missing truth": ("Model2_TrueLabel.txt", None, r"Model2_TrueLabel\.txt: no such file"),
    "missing names": ("Model2_ImageName.txt", None, r"Model2_ImageName\.txt: no such file"),
    "missing map": ("labelmap.json", None, r"labelmap\.json: no such file"),
    "no names": ("Model2_ImageName.txt", b"\n", r"names no item"),
    "item named twice": ("Model2_ImageName.txt", b"a.jpg,\na.jpg,", r"line 2: the item 'a' was named before"),
    "fewer answers": (
        "Model0_PredictedLabel.txt",
        answers({"a": [], "b": []}).encode(),
        r"has 2 items where 3 are named \('c' is missing\)",
    ),
    "more answers": (
        "Model0_PredictedLabel.txt",
        answers(GOOGLE | {"d": []}).encode(),
        r"has 4 items where 3 are named \('d' is not named\)",
    ),
    "unknown true label": (
        "Model2_TrueLabel.txt",
        truth(TRUE | {"c": ["cat"]}).encode(),
        r"item 'c': the true label 'cat' is not in labelmap\.json",
    ),
    "broken JSON": ("Model0_PredictedLabel.txt", b'{"a": [', r"line 1, column 8: not valid JSON"),
    "another JSON": ("Model0_PredictedLabel.txt", b"[1]", r"holds a list of 1; it must be one object"),
    "no list": (
        "Model0_PredictedLabel.txt",
        b'{"a": 1, "b": [], "c": []}',
        r"item 'a': has 1; it must have a list",
    ),
    "no label": (
        "Model0_PredictedLabel.txt",
        b'{"a": [{"confidence": 1}], "b": [], "c": []}',
        r"item 'a': a label is null; it must be a non-empty text",
    ),
    "score too large": (
        "Model0_PredictedLabel.txt",
        answers(GOOGLE | {"a": [("person", 98.5)]}).encode(),
        r"item 'a': the score is 98\.5; it must be a number in \[0, 1\]",
    ),
    "no score": (
        "Model0_PredictedLabel.txt",
        truth(TRUE).encode(),
        r"item 'b': the score is null; it must be a number in \[0, 1\]",
    ),
    "a score that is none": (
        "Model0_PredictedLabel.txt",
        answers(GOOGLE).replace("0.9", "NaN").encode(),
        r"NaN is not a JSON number",
    ),
    "item twice": ("Model0_PredictedLabel.txt", b'{"a": [], "a": []}', r"the key 'a' is given twice"),
    "not UTF-8": ("Model0_PredictedLabel.txt", b'{"\xe9": []}', r"byte 0xe9 at position 2 is not UTF-8"),
    "names not UTF-8": ("Model2_ImageName.txt", b"\xff", r"byte 0xff at position 0 is not UTF-8"),
    "endless number": (
        "Model0_PredictedLabel.txt",
        b'{"a": ' + b"1" * 5000 + b"}",
        r"a number has too many digits",
    ),
}


def said(source: dict) -> str:
    with pytest.raises(FrugalError) as caught:
        load_market("PASCAL", source)
    sentence = str(caught.value)
    assert "\n" not in sentence and sentence.endswith(".")
    return sentence


def spoil(folder: Path, file: str, content: bytes | None) -> None:
    if content is None:
        (folder / file).unlink()
    else:
        (folder / file).write_bytes(content)


@pytest.mark.parametrize("fault", BAD)
def test_bad_files_are_told_in_one_sentence(folder, fault):
    file, content, words = BAD[fault]
    spoil(folder, file, content)
    with pytest.raises(FrugalError, match=words):
        load_market("PASCAL", block(folder, PRICES))
    assert str(folder) in said(block(folder, PRICES))


BAD_LINES = {
    "a line less": ("Model2_Confidence.txt", b"0.5\n0.5\n", r"has 2 lines for 3 named items"),
    "unknown label": (
        "Model2_PredictedLabel.txt",
        b"0\nhappy\n1\n",
        r"line 2: the label is 'happy'; it must",
    ),
    "score too large": (
        "Model2_Confidence.txt",
        b"0.5\n1.5\n0.5\n",
        r"line 2: the score is 1\.5; it must",
    ),
    "no score": ("Model2_Confidence.txt", b"0.5\nx\n0.5\n", r"line 2: the score is 'x'; it must be"),
    "score nan": ("Model2_Confidence.txt", b"0.5\nnan\n0.5\n", r"line 2: the score is nan; it must be"),
    "other items": ("Model2_ImageName.txt", b"face_a.jpg,\nface_b.jpg,\nface_d.jpg,", r"'face_c' is missing"),
    "missing scores": (
        "Model2_Confidence.txt",
        None,
        r"RAFDB's Microsoft are missing: there is no .*Conf",
    ),
    "not UTF-8": ("Model2_PredictedLabel.txt", b"\xff\n", r"byte 0xff at position 0 is not UTF-8"),
}


@pytest.mark.parametrize("fault", BAD_LINES)
def test_bad_lines_are_told_in_one_sentence(tmp_path, fault):
    folder = write_frugalml(tmp_path / "RAFDB")
    file, content, words = BAD_LINES[fault]
    spoil(folder, file, content)
    with pytest.raises(FrugalError, match=words):
        load_market("RAFDB", block(folder, {"CNN": 0.01, "Microsoft": 10.0}, "FER", "frugalml"))


def test_a_folder_that_is_not_there_is_told(tmp_path):
    assert "nowhere: no such folder; it must be that of one dataset" in said(
        block(tmp_path / "nowhere", PRICES)
    )


# ---- the real releases, where they are at hand


REAL = {"Everypixel": (6, 6.0), "Microsoft": (2, 10.0), "Google": (0, 15.0)}


def test_pascal_gives_the_released_reward_item_by_item():
    folder = real_folder("FrugalMCT", "PASCAL")
    market = load_market("PASCAL", block(folder, {name: price for name, (_, price) in REAL.items()}))
    assert (len(market), market.truth.nnz, len(market.labels)) == (11540, 16682, 20)
    for service, (index, _) in REAL.items():
        reward = np.loadtxt(folder / f"Model{index}_Reward.txt")
        np.testing.assert_array_equal(market.service_accuracy()[:, market.service_index(service)], reward)


def test_pascal_agrees_with_the_released_table_of_rewards():
    folder = real_folder("FrugalMCT", "PASCAL")
    with gzip.open(SHARED_DATA / "rewards" / "PASCAL.csv.gz", "rt", encoding="utf-8") as handle:
        services = handle.readline().strip().split(",")
        rewards = np.loadtxt(handle, delimiter=",")
    market = load_market("PASCAL", block(folder, {name: price for name, (_, price) in REAL.items()}))
    columns = [services.index(name) for name in ("EveryPixel", "Microsoft", "Google")]
    np.testing.assert_allclose(market.service_accuracy(), rewards[:, columns], atol=1e-6)


def test_rafdb_gives_the_released_reward_item_by_item():
    folder = real_folder("FrugalML", "RAFDB")
    prices = {"CNN": 0.01, "FacePP": 5.0, "Microsoft": 10.0, "Google": 15.0}
    market = load_market("RAFDB", block(folder, prices, "FER", "frugalml"))
    rewards = np.column_stack([np.loadtxt(folder / f"Model{index}_Reward.txt") for index in (100, 1, 2, 0)])
    np.testing.assert_array_equal(market.service_accuracy(), rewards)


def test_the_free_model_of_the_real_copy_is_named_where_its_answers_are_missing():
    folder = real_folder("FrugalMCT", "PASCAL")
    if (folder / "Model100000_PredictedLabel.txt").exists():
        pytest.skip("this copy has the answers of the free model")
    assert "Model100000_PredictedLabel.txt" in said(block(folder, MIC_PRICES))
    assert json.loads((folder / "Model100000_TrueLabel.txt").read_text(encoding="utf-8"))
