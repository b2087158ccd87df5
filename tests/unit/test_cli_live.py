"""The commands from training to health, and every command of docs/live.md."""

import contextlib
import io
import json
import re
import runpy
import shlex
import shutil
from pathlib import Path

import numpy as np
import pytest
from helpers import ROOT

from frugalmct.cli import COMMANDS, main
from frugalmct.outlook import outlook, reached_out_of_sample, service_worth
from frugalmct.select import OnlineSelector, Problem, dual_price
from frugalmct.strategy import Strategy

TICKETS = ROOT / "examples" / "own-data" / "tickets.jsonl"
PAGE = (ROOT / "docs" / "live.md").read_text(encoding="utf-8")
PRICES = ["Keyword=0.1", "Tagger=4", "Expert=20"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Tickets and a strategy learnt from the first 400 of them."""
    folder = tmp_path_factory.mktemp("cli")
    shutil.copy(TICKETS, folder)
    lines = TICKETS.read_text(encoding="utf-8").splitlines(keepends=True)
    (folder / "train.jsonl").write_text("".join(lines[:400]), encoding="utf-8")
    (folder / "new.jsonl").write_text("".join(lines[400:]), encoding="utf-8")
    (folder / "item.json").write_text(lines[0], encoding="utf-8")
    with contextlib.redirect_stdout(io.StringIO()):
        command = ["train", str(folder / "train.jsonl"), "--prices", *PRICES, "--budget", "4", "8"]
        assert main([*command, "--base", "Keyword", "-o", str(folder / "s.npz")]) == 0
    return folder


@pytest.fixture(autouse=True)
def _here(folder, monkeypatch):
    monkeypatch.chdir(folder)


def run(capsys, *arguments: str) -> tuple[int, str, str]:
    code = main([str(argument) for argument in arguments])
    said = capsys.readouterr()
    return code, said.out, said.err


def run_json(capsys, *arguments: str) -> dict:
    code, out, _ = run(capsys, *arguments, "--json")
    assert code in (0, 1)
    return json.loads(out)


# --- the page


def test_every_command_of_the_page(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    shutil.copy(TICKETS, tmp_path)
    (tmp_path / "item.json").write_text(TICKETS.read_text(encoding="utf-8").splitlines()[0], encoding="utf-8")
    done, names = [], set()
    for language, block in re.findall(r"```(bash|python)\n(.*?)```", PAGE, re.DOTALL):
        if language == "python":
            done.append(block)
            continue
        for line in block.splitlines():
            words = shlex.split(line)
            assert words[0] == "frugalmct"
            code = main(words[1:])
            said = capsys.readouterr()
            assert code == 0 or words[1] == "health", said.err
            names.add(words[1])
    assert names == set(COMMANDS) - {"serve"}, "docs/serve.md has that one, in tests/unit/serve"
    exec("\n".join(done), {})
    assert "billing" in capsys.readouterr().out
    decisions = [json.loads(line) for line in Path("decisions.jsonl").read_text("utf-8").splitlines()]
    assert len(decisions) == 600 and sum(decision["cost"] for decision in decisions) <= 0.48


@pytest.mark.parametrize("name", [*COMMANDS[:-1], "ledger show", "ledger export"])
def test_help_shows_an_example(capsys, name):
    with pytest.raises(SystemExit) as end:
        main([*name.split(), "--help"])
    out = capsys.readouterr().out
    assert end.value.code == 0 and "example:" in out and f"frugalmct {name}" in out.split("example:")[1]
    assert "--json" in out


def test_the_example_is_short_and_runs(capsys):
    file = ROOT / "examples" / "live" / "loop.py"
    code = [
        line
        for line in file.read_text("utf-8").splitlines()
        if line and not line.startswith(("import", "from", '"""'))
    ]
    assert len(code) <= 30
    runpy.run_path(str(file))
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("300 tickets for 0.") and second.startswith("accuracy 0.8")


# --- one by one


def test_train_says_what_it_learnt(folder, capsys):
    command = ["train", "train.jsonl", "--prices", ",".join(PRICES), "--budget", "8", "-o", "again.npz"]
    found = run_json(capsys, *command, "--base", "Keyword", "--unit", "USD", "--metric", "f1")
    assert found["prices"] == {"Keyword": 0.1, "Tagger": 4.0, "Expert": 20.0}
    assert found["made"]["items"] == 400 and found["made"]["unit"] == "USD"
    strategy = Strategy.load("again.npz")
    assert strategy.metric == "f1" and found["plans"][0]["dual_price"] == strategy.plan(8).dual_price
    assert found["plans"][0]["cost"] <= 8


def test_a_market_file_trains_as_well(folder, capsys):
    from frugalmct.sources.jsonl import read_jsonl

    prices = {"Keyword": 0.1, "Tagger": 4.0, "Expert": 20.0}
    read_jsonl("train.jsonl", prices).save("market.npz")
    command = ["train", "market.npz", "--budget", "4", "8", "--base", "Keyword", "-o", "from_market.npz"]
    run_json(capsys, *command)
    assert Strategy.load("from_market.npz").plans == Strategy.load("s.npz").plans


def test_out_of_sample_is_what_folds_by_hand_give():
    strategy = Strategy.load("s.npz")
    estimates = strategy.training[0].estimates
    reached = np.empty(len(estimates))
    for fold in range(5):
        rows = [n for n in range(len(estimates)) if n % 5 == fold]
        others = [n for n in range(len(estimates)) if n % 5 != fold]
        price = dual_price(Problem(estimates.estimated[others], estimates.prices, 0, 8.0), 0.01)
        selector = OnlineSelector(estimates.prices, 0, 8.0, len(rows), price)
        for row in rows:
            reached[row] = estimates.actual[row, selector.choose(estimates.estimated[row])]
    assert np.array_equal(reached_out_of_sample(estimates, 8.0, 0.01), reached)


def test_the_cheapest_budget_reaches_the_accuracy(capsys):
    strategy = Strategy.load("s.npz")
    found = run_json(capsys, "budget", "s.npz", "--accuracy", "0.75")
    cheapest = found["cheapest"]
    assert cheapest["low"] <= cheapest["budget"] <= (cheapest["high"] or np.inf)
    at = {row["budget"]: row["accuracy"] for row in found["curve"]}
    assert at[cheapest["budget"]] >= 0.75
    assert all(accuracy < 0.75 for budget, accuracy in at.items() if budget < cheapest["budget"])
    assert np.allclose(outlook(strategy).accuracy, list(at.values()))
    code, out, _ = run(capsys, "budget", "s.npz", "--accuracy", "0.75")
    assert code == 0 and out.startswith("75.0 % from a budget of")
    assert "No budget reaches 100.0 %" in run(capsys, "budget", "s.npz", "--accuracy", "1")[1]


def test_what_services_are_worth(capsys):
    found = run_json(capsys, "services", "s.npz", "--budget", "8")["services"]
    worth = {row["service"]: row for row in found}
    assert worth["Keyword"]["accuracy_without"] is None, "it is the only base"
    assert worth["Expert"]["accuracy_without"] < worth["Expert"]["accuracy"]
    strategy = Strategy.load("s.npz")
    estimates = strategy.training[0].estimates
    hidden = estimates.estimated.copy()
    hidden[:, 2] = -0.0
    other = type(estimates)(0, estimates.prices, hidden, estimates.actual)
    assert worth["Expert"]["accuracy_without"] == pytest.approx(
        reached_out_of_sample(other, 8.0, 0.01).mean()
    )
    assert service_worth(strategy, 8.0) == found


def test_explain_agrees_with_the_decision(capsys):
    strategy = Strategy.load("s.npz")
    found = run_json(capsys, "explain", "s.npz", "item.json", "--budget", "8")
    price, choices = strategy.plan(8).dual_price, found["choices"]
    values = [row["accuracy"] - price * row["cost"] for row in choices]
    assert found["choice"] == choices[int(np.argmax(values))]["service"]
    changes = found["changes"]
    # At dual prices just beyond the ends another one wins, just inside them the same.
    for edge, inside, outside in (
        (changes["dual_price_from"], 1.001, 0.999),
        (changes["dual_price_to"], 0.999, 1.001),
    ):
        if edge:
            best = [
                choices[int(np.argmax([row["accuracy"] - edge * factor * row["cost"] for row in choices]))][
                    "service"
                ]
                for factor in (inside, outside)
            ]
            assert best[0] == found["choice"] != best[1]


def test_route_replays_what_evaluate_decides(capsys):
    code, out, err = run(
        capsys,
        "route",
        "s.npz",
        "new.jsonl",
        "--total",
        "0.16",
        "--items",
        "200",
        "--per",
        "10000",
        "--pace",
        "fixed",
    )
    decisions = [json.loads(line) for line in out.splitlines()]
    from frugalmct.sources.jsonl import read_jsonl

    market = read_jsonl("new.jsonl", {"Keyword": 0.1, "Tagger": 4.0, "Expert": 20.0})
    expected = Strategy.load("s.npz").evaluate(market, 8.0)
    assert code == 0 and "200 items for" in err
    assert [market.services.index(d["asked"][-1]) for d in decisions] == expected.choices.tolist()
    assert sum(d["cost"] for d in decisions) * 10_000 / 200 == pytest.approx(expected.cost)


def test_route_with_the_bases_answers_alone_says_whom_to_ask(capsys, folder):
    items = [json.loads(line) for line in Path("new.jsonl").read_text("utf-8").splitlines()]
    bare = [{"id": i["id"], "predictions": {"Keyword": i["predictions"]["Keyword"]}} for i in items]
    Path("bare.jsonl").write_text("\n".join(map(json.dumps, bare)), encoding="utf-8")
    options = ["--total", "0.16", "--items", "200", "--per", "10000", "--pace", "fixed"]
    whole = [
        json.loads(line) for line in run(capsys, "route", "s.npz", "new.jsonl", *options)[1].splitlines()
    ]
    asked = [
        json.loads(line) for line in run(capsys, "route", "s.npz", "bare.jsonl", *options)[1].splitlines()
    ]
    for one, other in zip(whole, asked, strict=True):
        assert (other["ask"] or "Keyword") == one["asked"][-1]
        assert other["cost"] == pytest.approx(one["cost"])


def test_one_ledger_for_two_runs(capsys, folder):
    url = f"sqlite:///{folder}/two.db"
    options = ["--per", "10000", "--ledger", url]
    run(capsys, "route", "s.npz", "new.jsonl", "--total", "0.2", "--items", "400", *options, "-o", "a.jsonl")
    run(capsys, "route", "s.npz", "new.jsonl", *options, "-o", "b.jsonl")
    shown = run_json(capsys, "ledger", "show", url)
    costs = [
        json.loads(line)["cost"]
        for name in "ab"
        for line in Path(f"{name}.jsonl").read_text("utf-8").splitlines()
    ]
    assert shown["items"] == 400 and shown["spent"] == pytest.approx(sum(costs)) and shown["spent"] <= 0.2
    assert sum(row["spent"] for row in shown["by_service"]) == pytest.approx(shown["spent"])
    code, out, _ = run(capsys, "ledger", "export", url)
    calls = [json.loads(line) for line in out.splitlines()]
    assert code == 0 and sum(call["cost"] for call in calls) == pytest.approx(shown["spent"])
    health = run_json(capsys, "health", "s.npz", *options)
    assert health["items"] == 400 and health["drift"]["items"] == 400 and not health["drift"]["drifted"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["train", "train.jsonl", "--budget", "8", "-o", "x.npz"], "--prices is missing"),
        (
            ["train", "train.jsonl", "--prices", "Keyword", "--budget", "8", "-o", "x"],
            "'Keyword' is not a price",
        ),
        (
            ["train", "train.jsonl", "--prices", "Keyword=x", "--budget", "8", "-o", "x"],
            "'Keyword=x' is not a",
        ),
        (["train", "none.jsonl", "--prices", *PRICES, "--budget", "8", "-o", "x"], "no such file"),
        (
            ["train", "train.jsonl", "--prices", *PRICES, "--budget", "0.01", "-o", "x"],
            "does not pay for the base",
        ),
        (["budget", "s.npz", "--accuracy", "3"], "The accuracy is 3.0"),
        (["budget", "none.npz"], "no such strategy file"),
        (["services", "s.npz", "--budget", "0.01"], "does not pay for the base"),
        (["explain", "s.npz", "empty.json"], "there is no item in it"),
        (["explain", "s.npz", "other.json"], "the answer of the base Keyword is missing"),
        (["explain", "s.npz", "bad.json"], "bad.json, line 1: not valid JSON"),
        (["route", "s.npz", "new.jsonl"], "no budget was given"),
        (["route", "s.npz", "new.jsonl", "--items", "5"], "--items and --start belong to a budget"),
        (["route", "s.npz", "bad.json", "--total", "1", "--items", "5"], "line 1: not valid JSON"),
        (["health", "s.npz"], "--ledger is missing"),
        (["health", "s.npz", "--ledger", "sqlite:///none.db"], "there is no such ledger"),
        (["ledger", "show", "sqlite:///none.db"], "there is no such ledger"),
    ],
)
def test_mistakes_are_one_sentence(capsys, arguments, sentence):
    Path("empty.json").write_text("\n", encoding="utf-8")
    Path("other.json").write_text('{"id": "a", "predictions": {}}\n', encoding="utf-8")
    Path("bad.json").write_text('{"id": \n', encoding="utf-8")
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "") and sentence in err and "Traceback" not in err
    assert not Path("none.db").exists()
