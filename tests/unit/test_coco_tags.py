"""The example of recorded tags and words: its map, and its script on a folder made by hand."""

import json
import runpy

import pytest
import yaml
from helpers import ROOT
from released import SHARED_DATA

from frugalmct.paper.config import validate
from frugalmct.sources import load_market

FOLDER = ROOT / "examples" / "coco-tags"
SCRIPT = runpy.run_path(str(FOLDER / "make_coco_tags.py"))
LABELS = json.loads((FOLDER / "labels.json").read_text(encoding="utf-8"))


@pytest.fixture
def answers(tmp_path):
    """Two pictures with tags, one with words; keys as in the release: paths, file names, numbers."""
    words = {"recognitionResult": {"lines": [{"text": "Main  St."}, {"text": "-"}]}}
    files = {
        "google_tags.json": {"/a/000000000012.jpg": [["Automobile", 0.9], ["car", 0.95], ["sky", 0.5]]},
        "amazon_tags.json": {"/a/000000000012.jpg": ["Human", "Sedan"], "/a/000000000007.jpg": []},
        "microsoft_tags_DESCRIPTION.json": {
            "000000000012.jpg": {"tags": [{"name": "man", "confidence": 0.7}]},
            "000000000007.jpg": {"tags": []},
        },
        "final_gt_tags.json": {"12": [3, 3, 1], "7": [1]},
        "clsid_name.json": {"1": "person", "3": "car"},
        "google_ocr.json": {"/a/000000000005.jpg": ["Main\n(St)\n", "Main", "(St)"]},
        "amazon_ocr.json": {"/a/000000000005.jpg": "  MAIN  5.95 "},
        "msft_ocr.json": {"000000000005.jpg": json.dumps(words)},
        "ground_truth.json": {"5": ["MAIN St", "", "?"]},
    }
    for name, content in files.items():
        (tmp_path / name).write_text(json.dumps(content), encoding="utf-8")
    return tmp_path


def test_tags_become_names_with_their_highest_score(answers):
    assert list(SCRIPT["tag_items"](answers, LABELS)) == [
        {
            "id": "12",
            "truth": ["car", "person"],
            "predictions": {
                "Google": [("car", 0.95)],
                "Amazon": [("car", 1.0), ("person", 1.0)],
                "Microsoft": [("person", 0.7)],
            },
        }
    ], "a picture that one service has not answered is left out"


def test_words_are_compared_without_case_and_punctuation(answers):
    (item,) = SCRIPT["text_items"](answers)
    assert item["truth"] == ["main", "st"]
    assert item["predictions"] == {
        "Google": [("main", 1.0), ("st", 1.0)],
        "Amazon": [("5.95", 1.0), ("main", 1.0)],
        "Microsoft": [("main", 1.0), ("st", 1.0)],
    }


def test_the_map_has_all_names_and_only_lower_case_words():
    assert len(LABELS) == 80
    words = [word for found in LABELS.values() for word in found]
    assert all(word == word.lower().strip() and word for word in words)
    assert all(name not in found and len(set(found)) == len(found) for name, found in LABELS.items())


def test_a_wrong_folder_is_said(tmp_path, capsys):
    assert SCRIPT["main"]([str(tmp_path)]) == 1
    assert "final_gt_tags.json" in capsys.readouterr().err


def test_the_real_answers_load_and_are_as_the_readme_says(tmp_path, monkeypatch, capsys):
    folder = SHARED_DATA / "PracticalDL"
    if not folder.is_dir():
        pytest.skip(f"no recorded answers at {folder}; set FRUGALMCT_SHARED_DATA to the folder that has them")
    assert SCRIPT["main"]([str(folder), "--out", str(tmp_path)]) == 0
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    for line in capsys.readouterr().out.splitlines():
        assert line.replace(f"{tmp_path}/", "") in readme
    monkeypatch.chdir(tmp_path)
    config = validate(yaml.safe_load((FOLDER / "config.yaml").read_text(encoding="utf-8")))
    for name, items in [("coco_tags", 4106), ("coco_text", 2752)]:
        market = load_market(name, config["datasets"][name])
        assert len(market) == items
        for share in market.service_accuracy().mean(axis=0):
            assert f"{100 * share:.1f} %" in readme
