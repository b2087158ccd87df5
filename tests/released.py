"""Small folders in the layouts of the authors' two releases, and where a real copy may be."""

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from helpers import ROOT

SHARED_DATA = Path(os.environ.get("FRUGALMCT_SHARED_DATA", ROOT / ".." / "shared" / "data"))

Entries = Sequence[tuple[str, float]]

# Indices are sparse and unordered, the title of the price varies, names are not those of the paper.
META = {
    "MIC": "Index,MLaaS(API),Cost per 10k texts,label number\n0,Google,15,2\n2,Microsoft,10,2\n"
    "6,EveryPixel,6,2\n100000,GitHub(SSD),0.001,2\n",
    "STR": "Index,MLaaS(API),Cost per 10k images,label number\n999,Google,15,2\n88,iFLYTEK,50,2\n"
    "9,Tencent,210,2\n1001,GitHub(SSD),0.001,2\n",
    "NER": "Index,MLaaS(API),Cost per 10k images,label number\n4,Amazon,3,2\n5,IBM,30,2\n0,Google,10,2\n"
    "100001,GitHub(Spacy),0.001,2\n",
}
LABEL_MAP = {"person": 0, "car": 1, "dog": 2}


def real_folder(release: str, dataset: str) -> Path:
    """A dataset of the real releases; the test is skipped where there is none."""
    folder = SHARED_DATA / release / "dataset" / f"mlserviceperformance_{dataset}"
    if not folder.is_dir():
        pytest.skip(f"no recorded answers at {folder}; set FRUGALMCT_SHARED_DATA to the folder that has them")
    return folder


def answers(sets: Mapping[str, Entries]) -> str:
    """A file of answers, or of truth where a label comes without a score."""
    return json.dumps(
        {
            item: [
                {"transcription": label, "confidence": score, "language": "Latin"} for label, score in entries
            ]
            for item, entries in sets.items()
        }
    )


def truth(sets: Mapping[str, Sequence[str]]) -> str:
    return json.dumps({item: [{"transcription": label} for label in labels] for item, labels in sets.items()})


def write_frugalmct(
    folder: Path,
    true: Mapping[str, Sequence[str]],
    services: Mapping[int, Mapping[str, Entries] | None],
    task: str = "MIC",
    label_map: Mapping[str, int] | None = None,
) -> Path:
    """A dataset's folder; of a service given as None everything is there but its answers."""
    folder.mkdir(parents=True)
    (folder / "meta.csv").write_text(META[task], encoding="utf-8")
    if task != "NER":
        (folder / "labelmap.json").write_text(json.dumps(label_map or LABEL_MAP), encoding="utf-8")
    for index, given in services.items():
        names = "\n".join(f"{item}.jpg," for item in true)
        (folder / f"Model{index}_ImageName.txt").write_text(names, encoding="utf-8")
        (folder / f"Model{index}_TrueLabel.txt").write_text(truth(true), encoding="utf-8")
        if given is not None:
            (folder / f"Model{index}_PredictedLabel.txt").write_text(answers(given), encoding="utf-8")
    return folder


def write_frugalml(folder: Path) -> Path:
    """Three items; the second service has them in another order."""
    folder.mkdir(parents=True)
    meta = "Index,MLaaS(API),Cost per 10k images,class number\n2,Microsoft,10,7\n100,GitHub(CNN),0.001,7\n"
    (folder / "meta.csv").write_text(meta, encoding="utf-8")
    for index, names, true, labels, scores in (
        (100, "abc", "310", "311", (0.5, 0.25, 1.0)),
        (2, "cab", "031", "030", (0.75, 1.0, 0.125)),
    ):
        files = {
            "ImageName": ",\n".join(f"face_{name}.jpg" for name in names) + ",",
            "TrueLabel": "\n".join(true),
            "PredictedLabel": "\n".join(labels),
            "Confidence": "\n".join(f"{score:.18e}" for score in scores),
        }
        for what, content in files.items():
            (folder / f"Model{index}_{what}.txt").write_text(content + "\n", encoding="utf-8")
    return folder


def git(folder: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=Nobody", "-c", "user.email=nobody@example.org")
    command = ["git", "-C", str(folder), *identity, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def committed(folder: Path) -> dict[str, str]:
    """The folder as a git repository with all its files in a commit: where to fetch it from."""
    git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "Data")
    return {"url": folder.as_uri(), "commit": git(folder, "rev-parse", "HEAD")}
