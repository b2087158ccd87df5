"""What a predictor lacks is said in one sentence, with what to do."""

import sys

import pytest

from frugalmct.predict.available import AUTOML_PYTHON, AUTOML_VARIABLE, automl_python, missing


def test_the_python_of_auto_sklearn_is_that_of_the_folder_unless_the_environment_says_otherwise(
    monkeypatch, tmp_path
):
    monkeypatch.delenv(AUTOML_VARIABLE, raising=False)
    assert automl_python() == AUTOML_PYTHON
    assert automl_python("env/bin/python", tmp_path) == str(tmp_path / "env/bin/python")
    assert automl_python("/opt/python", tmp_path) == "/opt/python"
    monkeypatch.setenv(AUTOML_VARIABLE, "/elsewhere/python")
    assert automl_python("env/bin/python", tmp_path) == "/elsewhere/python"


def test_what_comes_with_the_package_lacks_nothing(tmp_path):
    for name in ("mean", "random_forest", "extra_trees"):
        assert missing(name, str(tmp_path / "python")) is None
    assert missing("auto_sklearn", sys.executable) is None, "whether it is the right one, its job tells"


@pytest.mark.parametrize(
    ("name", "parts"),
    [("auto_sklearn", ["make automl-env", "python"]), ("flaml", ["lightgbm", "frugalmct[automl]"])],
)
def test_what_is_missing_is_named_with_the_remedy(monkeypatch, tmp_path, name, parts):
    monkeypatch.setattr(
        "frugalmct.predict.available.find_spec", lambda module: None if module == "lightgbm" else 1
    )
    sentence = missing(name, str(tmp_path / "python"))
    assert all(part in sentence for part in parts) and "\n" not in sentence
