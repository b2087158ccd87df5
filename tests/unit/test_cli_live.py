"""The commands from training to health, and every command of docs/live.md."""

import contextlib
import io
import itertools
import json
import re
import runpy
import shlex
import shutil
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from helpers import ROOT
from helpers import run_command as run

from frugalmct.cli import COMMANDS, main
from frugalmct.cli.progress import Ticker
from frugalmct.live import Ledger, LedgerError
from frugalmct.live.report import HealthReport
from frugalmct.outlook import outlook, promised, service_worth
from frugalmct.select import OnlineSelector, Problem, dual_price
from frugalmct.sources.jsonl import read_jsonl
from frugalmct.strategy import Strategy
from frugalmct.training import folds

TICKETS = ROOT / "examples" / "own-data" / "tickets.jsonl"
PAGE = (ROOT / "docs" / "live.md").read_text(encoding="utf-8")
PRICES = ["Keyword=0.1", "Tagger=4", "Expert=20"]
PRICE = {"Keyword": 0.1, "Tagger": 4.0, "Expert": 20.0}


TRAIN = ["train", "train.jsonl", "--prices", *PRICES, "--budget", "8", "--base", "Keyword", "-o", "steps.npz"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Tickets, and strategies learnt from 400 of them: `s` of plus, `paper` by the paper's method."""
    folder = tmp_path_factory.mktemp("cli")
    shutil.copy(TICKETS, folder)
    lines = TICKETS.read_text(encoding="utf-8").splitlines(keepends=True)
    (folder / "train.jsonl").write_text("".join(lines[:400]), encoding="utf-8")
    (folder / "new.jsonl").write_text("".join(lines[400:]), encoding="utf-8")
    (folder / "item.json").write_text(lines[0], encoding="utf-8")
    with contextlib.redirect_stdout(io.StringIO()):
        command = ["train", str(folder / "train.jsonl"), "--prices", *PRICES, "--budget", "4", "8"]
        assert main([*command, "--base", "Keyword", "-o", str(folder / "s.npz")]) == 0
        paper = ["--method", "paper", "--base", "Keyword", "-o", str(folder / "paper.npz")]
        assert main([*command, *paper]) == 0
    return folder


@pytest.fixture(autouse=True)
def _here(folder, monkeypatch):
    monkeypatch.chdir(folder)


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
    assert names == set(COMMANDS) - {"report", "serve"}, "which have tests of their own"
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


def test_help_of_the_ledger_shows_examples(capsys):
    with pytest.raises(SystemExit):
        main(["ledger", "--help"])
    examples = capsys.readouterr().out.split("examples:")[1]
    assert "frugalmct ledger show sqlite:///" in examples and "frugalmct ledger export" in examples


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
    prices = {"Keyword": 0.1, "Tagger": 4.0, "Expert": 20.0}
    read_jsonl("train.jsonl", prices).save("market.npz")
    command = ["train", "market.npz", "--budget", "4", "8", "--base", "Keyword", "-o", "from_market.npz"]
    run_json(capsys, *command)
    assert Strategy.load("from_market.npz").plans == Strategy.load("s.npz").plans


@pytest.mark.parametrize("arguments", [["--base", "Keyword", "Tagger"], ["--combiner", "weight_threshold"]])
def test_more_of_train(capsys, arguments):
    command = ["train", "train.jsonl", "--prices", *PRICES, "--budget", "8", "-o", "more.npz", *arguments]
    found = run_json(capsys, *command)
    strategy = Strategy.load("more.npz")
    assert found["made"]["method"] == "plus"
    if "--base" in arguments:
        assert strategy.plan(8).base == (0, 1) and found["plans"][0]["base"] == "Keyword + Tagger"
        assert run_json(capsys, "budget", "more.npz")["curve"][0]["budget"] == pytest.approx(4.1)
    else:
        assert strategy.steps == 1


def test_out_of_sample_is_what_folds_by_hand_give():
    strategy = Strategy.load("paper.npz")
    assert strategy.made.method == "paper" and strategy.bases == [(0,)]
    training, prices = strategy.training, strategy.prices
    estimated = training.estimates[0,]
    actual = np.column_stack([training.accuracy[state] for state in ((0,), (0, 1), (0, 2))])
    reached = []
    for others, rows in folds(len(estimated), 0):
        assert not set(others) & set(rows) and len(others) + len(rows) == len(estimated)
        price = dual_price(Problem(estimated[others], prices, 0, 8.0), 0.01)
        selector = OnlineSelector(prices, 0, 8.0, len(rows), price)
        reached += [actual[row, selector.choose(estimated[row])] for row in rows]
    assert np.array_equal(outlook(strategy, [8.0]).reached[0], reached)
    assert promised(strategy, strategy.plan(8.0)) == pytest.approx(np.mean(reached))


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
    assert service_worth(strategy, 8.0) == found
    # Independently: a strategy that never had the service.
    training = strategy.training
    rest = replace(
        training,
        prices=training.prices[:2],
        estimates={(0,): training.estimates[0,][:, :2]},
        accuracy={state: training.accuracy[state] for state in ((0,), (0, 1))},
    )
    tried = rest.tried(rest.cascade((0,)), 8.0, 0.01, folds(len(rest), 0))
    assert worth["Expert"]["accuracy_without"] == pytest.approx(tried.mean())


def test_explain_goes_on_once_the_add_on_has_answered(capsys):
    """Item by item what `evaluate` decides, as long as there is money."""
    strategy = Strategy.load("s.npz").with_prices({}, budgets=[20.0])
    strategy.save("rich.npz")
    market = read_jsonl("new.jsonl", {"Keyword": 0.1, "Tagger": 4.0, "Expert": 20.0})
    asked = strategy.decide(market, 20.0)
    lines = Path("new.jsonl").read_text("utf-8").splitlines()
    row = int(np.flatnonzero(asked.sum(axis=1) == 3)[0])
    Path("one.json").write_text(lines[row], encoding="utf-8")
    found = run_json(capsys, "explain", "rich.npz", "one.json", "--budget", "20")
    assert found["then"]["asked"] == sorted(["Keyword", found["choice"]], key=strategy.services.index)
    assert {found["choice"], found["then"]["choice"]} == {"Tagger", "Expert"}
    code, out, _ = run(capsys, "explain", "rich.npz", "one.json", "--budget", "20")
    assert code == 0 and f"Once {found['choice']} has answered, too:" in out


@pytest.mark.parametrize("file", ["s.npz", "paper.npz"])
def test_explain_agrees_with_the_decision(capsys, file):
    strategy = Strategy.load(file)
    found = run_json(capsys, "explain", file, "item.json", "--budget", "8")
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


@pytest.mark.parametrize("file", ["s.npz", "paper.npz"])
def test_route_replays_what_evaluate_decides(capsys, file):
    code, out, err = run(
        capsys,
        "route",
        file,
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
    market = read_jsonl("new.jsonl", {"Keyword": 0.1, "Tagger": 4.0, "Expert": 20.0})
    expected = Strategy.load(file).evaluate(market, 8.0)
    assert code == 0 and "200 items for" in err
    assert [[name in d["asked"] for name in market.services] for d in decisions] == expected.asked.tolist()
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
        asked_first = one["asked"][:2]
        assert [*other["asked"], *filter(None, [other["ask"]])] == asked_first
        assert other["cost"] * 10_000 == pytest.approx(sum(PRICE[name] for name in asked_first))


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
    out = run(capsys, "health", "s.npz", *options)[1]
    assert f"expected less promised {100 * health['accuracy']['gap']:+.2f} points" in " ".join(out.split())
    out = run(capsys, "health", "s.npz", "--per", "1", "--plan", "8", "--ledger", url)[1]
    assert "no verdict yet" in out and "(400 items): of routers with another strategy, per or plan" in out


def test_failures_in_a_file_leave_no_service_out(capsys):
    """They were yesterday's: every other item is routed with the base whose answer it has."""
    items = [json.loads(line) for line in Path("new.jsonl").read_text("utf-8").splitlines()][:100]
    for item in items[10:22]:
        item["predictions"]["Keyword"] = None
    Path("nulls.jsonl").write_text("\n".join(map(json.dumps, items)), encoding="utf-8")
    options = ["--total", "0.08", "--items", "100", "--per", "10000"]
    out = run(capsys, "route", "s.npz", "nulls.jsonl", *options)[1]
    found = [json.loads(line) for line in out.splitlines()]
    assert ["Keyword" in one["asked"] for one in found] == [not 10 <= n < 22 for n in range(100)]
    assert all("the call failed" in one["failed"]["Keyword"] for one in found[10:22])


@pytest.mark.parametrize("share", ["as usual", "fails as well"])
def test_a_ledger_that_fails_ends_the_command(capsys, monkeypatch, folder, share):
    """One sentence; what was decided before is written, since it was paid for."""
    url = f"sqlite:///{folder}/full {share}.db"
    options = ["--total", "0.16", "--items", "200", "--per", "10000", "--ledger", url]
    opened, reserve = set(), Ledger.reserve

    def full(self, amount, service, ticket, **key):
        opened.add(ticket)
        if len(opened) > 3:
            raise LedgerError("the ledger cannot be written (the disk is full).")
        return reserve(self, amount, service, ticket, **key)

    def nothing_more(*_):
        raise LedgerError("the ledger cannot be written (the disk is full).")

    monkeypatch.setattr(Ledger, "reserve", full)
    monkeypatch.setattr(Ledger, "exchange", lambda self, *, reserve=(), **_: [
        full(self, wish.amount, wish.service, wish.ticket) for wish in reserve
    ])  # fmt: skip
    if share == "fails as well":
        monkeypatch.setattr(HealthReport, "shut", nothing_more)
    code, out, err = run(capsys, "route", "s.npz", "new.jsonl", *options, "-o", "full.jsonl")
    assert (code, out) == (2, "") and err == "frugalmct: the ledger cannot be written (the disk is full).\n"
    decisions = [json.loads(line) for line in Path("full.jsonl").read_text("utf-8").splitlines()]
    assert len(decisions) == 3 and not any("error" in one for one in decisions)


def test_decisions_come_as_they_are_made():
    """A pipe that gives one item at a time has its decision before the next."""
    command = [sys.executable, "-m", "frugalmct.cli", "route", "s.npz", "-", "--total", "0.16"]
    command += ["--items", "200", "--per", "10000"]
    lines = Path("new.jsonl").read_text("utf-8").splitlines(keepends=True)
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as started:
        for line in lines[:3]:
            started.stdin.write(line)
            started.stdin.flush()
            timer = threading.Timer(60, started.kill)
            timer.start()
            assert json.loads(started.stdout.readline())["id"] == json.loads(line)["id"]
            timer.cancel()
        started.stdin.close()


@pytest.mark.parametrize("terminal", [True, False])
def test_long_work_says_how_far_it_is(capsys, monkeypatch, terminal):
    """Each item takes a second; nothing of it is among the decisions."""
    seconds = itertools.count()
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal, raising=False)
    monkeypatch.setattr(Ticker.__init__, "__defaults__", (lambda: float(next(seconds)),))
    options = ["--total", "0.16", "--items", "200", "--per", "10000", "--json"]
    _, out, err = run(capsys, "route", "s.npz", "new.jsonl", *options)
    *lines, counts = err.splitlines()
    assert len(out.splitlines()) == 200 and all("ask" in json.loads(line) for line in out.splitlines())
    assert len(lines) == (200 // 3 if terminal else 200 // 30)
    assert lines[0].startswith(f"frugalmct: {3 if terminal else 30} items done, 0.")
    assert json.loads(counts)["items"] == 200


@pytest.mark.parametrize(
    ("arguments", "step"),
    [
        (TRAIN, "learning to combine the answers of Keyword + Tagger"),
        (TRAIN, "learning whom to ask once Keyword answered"),
        ([*TRAIN, "--method", "paper"], "learning whom to ask once Keyword answered"),
        ([*TRAIN, "--method", "per_call"], "learning whom to ask with Keyword asked first"),
        (["budget", "s.npz"], "budget 2 of 40"),
        (["services", "s.npz"], "doing without Expert"),
    ],
)
def test_long_work_says_what_it_is_at(capsys, monkeypatch, arguments, step):
    seconds = itertools.count(step=60)
    monkeypatch.setattr(Ticker.__init__, "__defaults__", (lambda: float(next(seconds)),))
    code, out, err = run(capsys, *arguments, "--json")
    assert code == 0 and f"frugalmct: {step}" in err.splitlines() and json.loads(out)


def test_short_work_says_nothing(capsys):
    assert run(capsys, "budget", "s.npz")[2] == ""


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
        (
            ["route", "s.npz", "new.jsonl", "--total", "1", "--items", "5", "-o", "none/out.jsonl"],
            "none/out.jsonl: cannot be written (No such file or directory)",
        ),
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
