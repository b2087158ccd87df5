import json
from pathlib import Path

import pytest
from released import committed, git, write_frugalmct, write_frugalml

from frugalmct.errors import FrugalError
from frugalmct.paper.config import fetched_datasets, validate
from frugalmct.sources.release import clone, dataset_folder, fetch_release

TRUE = {"a": ["car"], "b": ["dog"], "c": ["person"]}
GIVEN = {item: [(labels[0], 0.5)] for item, labels in TRUE.items()}
PASCAL = {
    "task": "MIC",
    "source": {"kind": "simulated"},
    "prices": {"SSD": 0.01, "Everypixel": 6, "Microsoft": 10, "Google": 15},
}


def write_release(folder: Path, **services) -> Path:
    """A release of PASCAL with all services, but for those given as None."""
    indices = {"Google": 0, "Microsoft": 2, "EveryPixel": 6, "SSD": 100000}
    given = {index: services.get(name, GIVEN) for name, index in indices.items()}
    write_frugalmct(dataset_folder(folder, "PASCAL"), TRUE, given)
    return folder


@pytest.fixture
def remote(tmp_path) -> dict[str, str]:
    """A git repository with the release in its first commit, and something else in its second."""
    folder = write_release(tmp_path / "remote")
    source = committed(folder)
    (folder / "dataset" / "later.txt").write_text("later\n", encoding="utf-8")
    committed(folder)
    return source


@pytest.fixture
def config(monkeypatch):
    """A configuration of PASCAL alone, as if it were simulated; the schema of its simulation is passed by."""
    monkeypatch.setattr("frugalmct.paper.config.check_schema", lambda *_: None)
    return {"data": "release", "datasets": {"PASCAL": PASCAL}}


def told(config: dict) -> str:
    with pytest.raises(FrugalError) as caught:
        validate(config)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_the_pinned_commit_is_cloned_whole(remote, tmp_path):
    target = tmp_path / "some" / "where"
    clone(target, remote["url"], remote["commit"])
    assert (dataset_folder(target, "PASCAL") / "meta.csv").is_file()
    assert not (target / "dataset" / "later.txt").exists(), "of the pinned commit, not the newest"
    assert git(target, "rev-parse", "HEAD") == remote["commit"]
    assert [path.name for path in target.parent.iterdir()] == ["where"]


@pytest.mark.parametrize(
    "change",
    [{"url": "file:///nowhere/at/all"}, {"commit": "0" * 40}],
    ids=["no such place", "no such commit"],
)
def test_what_can_not_be_fetched_is_told_with_a_way_out(remote, tmp_path, change):
    source = remote | change
    with pytest.raises(
        FrugalError, match=r"The release cannot be fetched from .* with no network, copy"
    ) as caught:
        clone(tmp_path / "target", source["url"], source["commit"])
    assert "--config release_dir=FOLDER." in str(caught.value) and "\n" not in str(caught.value)
    assert not (tmp_path / "target").exists() and not list(tmp_path.glob(".target*"))


def test_without_git_there_is_a_sentence(remote, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(FrugalError, match=r"git does not start .* copy the release from a machine"):
        clone(tmp_path / "target", remote["url"], remote["commit"])


def fetched(tmp_path: Path, source: dict[str, str], missing: str = "error") -> dict:
    folder = tmp_path / "release"
    block = PASCAL | {"source": {"kind": "frugalmct", "path": str(dataset_folder(folder, "PASCAL"))}}
    return fetch_release(tmp_path / "release.json", folder, source, {"PASCAL": block}, missing)


def test_fetching_writes_down_what_was_found(remote, tmp_path):
    record = fetched(tmp_path, remote)
    assert record == json.loads((tmp_path / "release.json").read_text(encoding="utf-8"))
    assert record["fetched"] == f"{remote['url']} at {remote['commit']}" and record["missing"] == {}
    again = fetched(tmp_path, {"url": "file:///nowhere", "commit": "0" * 40})
    assert again["fetched"] is None, "a folder that is there is left as it is"


def test_a_release_that_lacks_answers_is_told_after_fetching_too(tmp_path):
    write_release(tmp_path / "release", SSD=None)
    with pytest.raises(FrugalError, match=r"PASCAL's SSD are missing: .*Model100000_PredictedLabel\.txt"):
        fetched(tmp_path, {})
    assert not (tmp_path / "release.json").exists()
    assert list(fetched(tmp_path, {}, "drop")["missing"]) == ["PASCAL's SSD"]


def test_the_papers_datasets_are_read_from_the_release(config, tmp_path):
    release = write_release(tmp_path / "release")
    valid = validate(config | {"release_dir": str(release)})
    block = valid["datasets"]["PASCAL"]
    assert block["source"] == {"kind": "frugalmct", "path": str(dataset_folder(release, "PASCAL"))}
    assert "dropped" not in block and fetched_datasets(valid) == ["PASCAL"]
    simulated = validate(config | {"data": "simulated"})
    assert simulated["datasets"]["PASCAL"]["source"]["kind"] == "simulated"
    assert fetched_datasets(simulated) == []


def test_a_release_still_to_be_fetched_is_no_mistake(config, tmp_path):
    valid = validate(config | {"release_dir": str(tmp_path / "not there")})
    assert list(valid["datasets"]["PASCAL"]["prices"]) == ["SSD", "Everypixel", "Microsoft", "Google"]
    assert validate(config)["datasets"]["PASCAL"]["source"]["path"].startswith("release/FrugalMCT/dataset/")


def test_missing_answers_stop_by_default(config, tmp_path):
    release = write_release(tmp_path / "release", SSD=None, Google=None)
    sentence = told(config | {"release_dir": str(release)})
    assert "PASCAL's SSD, PASCAL's Google are missing" in sentence
    assert "Model100000_PredictedLabel.txt" in sentence and "Model0_PredictedLabel.txt" in sentence


def test_missing_services_are_dropped_before_budgets_are_derived(config, tmp_path):
    release = write_release(tmp_path / "release", SSD=None)
    block = validate(config | {"release_dir": str(release), "missing_services": "drop"})["datasets"]["PASCAL"]
    assert list(block["prices"]) == ["Everypixel", "Microsoft", "Google"]
    assert block["budgets"][0] == 6 and list(block["dropped"]) == ["SSD"]
    assert block["dropped"]["SSD"][0].endswith("Model100000_PredictedLabel.txt")


def test_a_base_without_answers_is_a_mistake(config, tmp_path):
    release = write_release(tmp_path / "release", SSD=None)
    config = config | {"release_dir": str(release), "missing_services": "drop"}
    config["datasets"] = {"PASCAL": PASCAL | {"base": "SSD"}}
    assert "datasets.PASCAL.base is 'SSD', whose answers are missing; choose another" in told(config)


def test_a_release_without_any_answers_is_a_mistake(config, tmp_path):
    services = dict.fromkeys(("SSD", "EveryPixel", "Microsoft", "Google"))
    release = write_release(tmp_path / "release", **services)
    config = config | {"release_dir": str(release), "missing_services": "drop"}
    assert "datasets.PASCAL has answers of no service in " in told(config)


def test_a_dataset_that_is_not_run_is_not_looked_for(config, tmp_path):
    release = write_release(tmp_path / "release")
    config["datasets"] = {"PASCAL": PASCAL, "COCO": PASCAL}
    assert "mlserviceperformance_COCO: no such folder" in told(config | {"release_dir": str(release)})
    validate(config | {"release_dir": str(release), "only": ["PASCAL"]})


def test_one_label_data_have_one_label(tmp_path):
    folder = write_frugalml(tmp_path / "RAFDB")
    block = {"task": "FER", "source": {"kind": "frugalml", "path": str(folder)}, "prices": {"CNN": 0.01}}
    assert validate({"datasets": {"RAFDB": block}})["datasets"]["RAFDB"]["labels_per_item"] == 1
    given = block | {"labels_per_item": 2}
    assert validate({"datasets": {"RAFDB": given}})["datasets"]["RAFDB"]["labels_per_item"] == 2


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"source": {"kind": "frugalml"}}, "datasets.RAFDB.source has no 'path'; add it"),
        ({"source": {"kind": "frugalml", "path": "x{y}"}}, "braces, stars and line breaks cannot be used"),
        ({"source": {"kind": "frugalml", "path": "nowhere"}}, "nowhere: no such folder"),
        ({"labels_per_item": 0}, "labels_per_item is 0; it must be at least 1"),
    ],
)
def test_mistakes_in_a_block_are_told(tmp_path, change, words):
    folder = write_frugalml(tmp_path / "RAFDB")
    block = {"task": "FER", "source": {"kind": "frugalml", "path": str(folder)}, "prices": {"CNN": 0.01}}
    assert words in told({"datasets": {"RAFDB": block | change}})
