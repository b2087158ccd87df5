import pytest

from frugalmct.errors import FrugalError
from frugalmct.paper.jobs.command_line import check_config_files


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("config.yaml", "mine.yaml"):
        (tmp_path / name).touch()
    (tmp_path / "results").mkdir()


@pytest.mark.parametrize(
    "line",
    [
        "",
        "--cores 2",
        "tables --configfile config.yaml mine.yaml",
        "--configfile config.yaml mine.yaml --cores 2 -- tables",
        "--configfile=mine.yaml tables --config repeats=1",
    ],
)
def test_what_is_right(line):
    check_config_files(line.split())


@pytest.mark.parametrize(
    ("line", "name", "advice"),
    [
        ("--configfile config.yaml tables", "tables", "snakemake tables --configfile config.yaml"),
        ("--cores 2 --configfiles mine.yaml results", "results", "--configfile mine.yaml"),
        ("--configfile mine.yml", "mine.yml", "--configfile config.yaml"),
        ("--configfile=mine.yml tables", "mine.yml", "--configfile config.yaml"),
    ],
)
def test_what_is_no_file(line, name, advice):
    with pytest.raises(FrugalError, match=f"there is no file '{name}' here; .*{advice}$"):
        check_config_files(line.split())
