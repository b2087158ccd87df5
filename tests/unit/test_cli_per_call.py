"""The commands and `with_prices` for strategies whose calls have costs of their own, or one price each."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from helpers import run_command as run
from per_call_markets import FAST, prompts, voters

from frugalmct import PerCallStrategy, Strategy
from frugalmct.errors import FrugalError
from frugalmct.market import Extras, Market
from frugalmct.outlook import outlook, service_worth
from frugalmct.select import frontier
from frugalmct.training import folds


def priced(market: Market, *prices: float) -> Market:
    """The same with one price per service."""
    extras = Extras(text=market.extras.text, answer_numbers=market.extras.answer_numbers)
    return replace(market, prices=np.array(prices), extras=extras)


def scaled(market: Market, *factors: float) -> Market:
    """The same with calls that cost so many times as much."""
    costs = market.extras.costs * factors
    return replace(market, prices=costs.mean(axis=0), extras=replace(market.extras, costs=costs))


def lines_of(market: Market) -> list[dict]:
    """As in a data file."""
    lines = []
    for n, name in enumerate(market.items.tolist()):
        line = {"id": name}
        if market.extras.text is not None:
            line["text"] = market.extras.text[n]
        if market.kind == "quality":
            line["quality"] = dict(zip(market.services, market.quality[n].tolist(), strict=True))
        else:
            line["truth"] = [str(market.labels[j]) for j in market.truth[n].indices]
            line["predictions"] = {
                service: [
                    [str(market.labels[j]), float(x)] for j, x in zip(row.indices, row.data, strict=True)
                ]
                for service, row in zip(market.services, (own[n] for own in market.scores), strict=True)
            }
        if market.extras.costs is not None:
            line["costs"] = dict(zip(market.services, market.costs[n].tolist(), strict=True))
        lines.append(line)
    return lines


def write(path: str, lines: list[dict]) -> None:
    Path(path).write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


@pytest.fixture(scope="module")
def text() -> PerCallStrategy:
    return Strategy.fit(prompts(150), [0.6, 1.0], base="none", options=FAST)


@pytest.fixture(scope="module")
def votes() -> PerCallStrategy:
    return Strategy.fit(voters(150), [2.5], base=["one", "two"], options=FAST)


@pytest.fixture(scope="module")
def folder(tmp_path_factory, text, votes) -> Path:
    folder = tmp_path_factory.mktemp("per call")
    text.save(folder / "text.npz")
    votes.save(folder / "votes.npz")
    plain = Strategy.fit(priced(prompts(120), 0.2, 1.0), [0.6], base="none", options=FAST)
    plain.save(folder / "priced.npz")
    return folder


@pytest.fixture(autouse=True)
def _here(folder, monkeypatch):
    monkeypatch.chdir(folder)


def run_json(capsys, *arguments: str) -> dict:
    code, out, err = run(capsys, *arguments, "--json")
    assert code == 0, err
    return json.loads(out)


# --- what a budget buys


def walked_by_hand(accuracy, estimated, quality, true, others, rows, budget):
    """Nobody asked first: the policy as docs/llm-routing.md has it, item by item."""
    found = frontier(accuracy[others], estimated[others], None)
    cheapest = true[others][np.arange(len(others)), estimated[others].argmin(axis=1)]
    least, left, reached = cheapest.mean(), len(rows) * budget, []
    for n, row in enumerate(rows):
        if n % 64 == 0:
            aim = least + 0.99 * max(left / (len(rows) - n) - least, 0)
            price = found.dual_prices[max(np.searchsorted(found.budgets, aim * (1 + 1e-12), "right") - 1, 0)]
        choice = int(np.argmax(accuracy[row] - price * estimated[row]))
        coming = len(rows) - n - 1
        kept = coming * least + 3 * cheapest.std() * np.sqrt(coming)
        if estimated[row, choice] + kept > left:
            choice = int(np.argmin(estimated[row]))
        if left <= 0:
            reached.append(0.0)
            continue
        left -= true[row, choice]
        reached.append(quality[row, choice])
    return reached


@pytest.mark.parametrize("budget", [0.4, 0.6, 1.0])
def test_out_of_sample_is_what_folds_by_hand_give(text, budget):
    own = text.training
    tables = (own.accuracy[()], own.estimated[()], own.quality, own.costs)
    parts = folds(len(own), 0)
    by_hand = [walked_by_hand(*tables, others, rows, budget) for others, rows in parts]
    assert np.array_equal(outlook(text, [budget]).reached[0], np.concatenate(by_hand))
    # And without the expensive one.
    fewer = tuple(table[:, :1] for table in tables)
    by_hand = [walked_by_hand(*fewer, others, rows, budget) for others, rows in parts]
    worth = {row["service"]: row for row in service_worth(text, budget)}
    assert worth["big"]["accuracy_without"] == pytest.approx(np.concatenate(by_hand).mean())


def test_budget_and_services(capsys, text):
    found = run_json(capsys, "budget", "text.npz", "--accuracy", "0.8")
    cheapest, curve = found["cheapest"], found["curve"]
    at = {row["budget"]: row["accuracy"] for row in curve}
    assert at[cheapest["budget"]] >= 0.8 > max([0, *(at[b] for b in at if b < cheapest["budget"])])
    assert cheapest["low"] <= cheapest["budget"] and {row["base"] for row in curve} == {"none"}
    assert curve[0]["accuracy"] < 0.65 and max(at.values()) > 0.85, "from the cheap one alone to both"
    assert run(capsys, "budget", "text.npz", "--accuracy", "0.8")[1].startswith("80.0 % from a budget of")
    worth = run_json(capsys, "services", "text.npz", "--budget", "1")["services"]
    assert [row["service"] for row in worth] == ["mini", "big"]
    assert worth[1]["accuracy_without"] < worth[1]["accuracy"] and worth[1]["budget_without"] is None
    assert worth[0]["price"] == pytest.approx(prompts(150).costs[:, 0].mean())
    assert "mini" in run(capsys, "services", "text.npz")[1]


def test_a_base_is_left_out_with_its_model(capsys):
    worth = {row["service"]: row for row in run_json(capsys, "services", "votes.npz")["services"]}
    assert worth["one"]["base"] and worth["one"]["accuracy_without"] is None
    assert worth["expert"]["accuracy_without"] < worth["expert"]["accuracy"]
    curve = run_json(capsys, "budget", "votes.npz")["curve"]
    assert {row["base"] for row in curve} == {"one + two"}


def test_what_is_kept_travels(text, folder):
    again = Strategy.load("text.npz")
    assert np.allclose(again.training.accuracy[()], text.training.accuracy[()], atol=1e-7)
    assert np.array_equal(again.training.costs, text.training.costs)
    assert outlook(again, [0.6]).accuracy == pytest.approx(outlook(text, [0.6]).accuracy, abs=0.02)
    assert Strategy.load("priced.npz").training.priced and not again.training.priced


# --- one item


@pytest.mark.parametrize("file", ["text.npz", "votes.npz"])
def test_explain_agrees_with_the_estimates(capsys, file):
    strategy = Strategy.load(file)
    market = prompts(6, 1) if file == "text.npz" else voters(6, 1)
    budget = max(strategy.plans)
    accuracy, costs = strategy.estimate(market, budget)
    plan = strategy.plan(budget)
    costs[:, list(plan.first)] = 0
    chosen = (accuracy - plan.dual_price * costs).argmax(axis=1)
    for n, line in enumerate(lines_of(market)):
        # Of services that are not asked first, and of the outcome, nothing is looked at.
        first = [strategy.services[k] for k in plan.first]
        kept = {
            key: {k: v for k, v in line.get(key, {}).items() if k in first}
            for key in ("costs", "predictions")
        }
        bare = {key: value for key, value in line.items() if key in ("id", "text")} | kept
        write("whole.json", [line])
        write("bare.json", [bare])
        found = run_json(capsys, "explain", file, "whole.json")
        assert found == run_json(capsys, "explain", file, "bare.json")
        assert found["choice"] == strategy.services[chosen[n]] and found["then"] is None
        assert [row["accuracy"] for row in found["choices"]] == pytest.approx(accuracy[n].tolist())
        assert [row["cost"] for row in found["choices"]] == pytest.approx(costs[n].tolist())
        assert found["asked"] == first and found["dual_price"] == plan.dual_price
    out = run(capsys, "explain", file, "bare.json")[1]
    assert ("nobody is asked first" in out) == (not first) and "Chosen: " in out


def test_explain_at_a_budget_between(capsys, text):
    write("one.json", lines_of(prompts(1, 1)))
    found = run_json(capsys, "explain", "text.npz", "one.json", "--budget", "0.8")
    prices = [text.plan(budget).dual_price for budget in (1.0, 0.6)]
    assert prices[0] <= found["dual_price"] <= prices[1]


# --- decisions for a file


def decisions(capsys, *arguments: str) -> list[dict]:
    code, out, err = run(capsys, "route", *arguments)
    assert code == 0, err
    return [json.loads(line) for line in out.splitlines()]


def test_route_plays_recorded_calls_back_within_the_money(capsys):
    market = prompts(100, 1)
    write("new.jsonl", lines_of(market))
    found = decisions(capsys, "text.npz", "new.jsonl", "--total", "0.1", "--items", "100", "--per", "1000")
    at = {str(name): n for n, name in enumerate(market.items)}
    paid = [market.costs[at[d["id"]], market.service_index(d["service"])] / 1000 for d in found]
    assert [d["cost"] for d in found] == pytest.approx(paid, abs=1.01e-9), "to the smallest sum counted"
    assert sum(paid) <= 0.1 + market.costs.max() / 1000 and all(d["ask"] is None for d in found)
    assert np.mean([market.quality[at[d["id"]], market.service_index(d["service"])] for d in found]) > 0.8
    # The outcome is not looked at.
    write("other.jsonl", [line | {"quality": {"mini": 0.5, "big": 0.5}} for line in lines_of(market)])
    again = decisions(capsys, "text.npz", "other.jsonl", "--total", "0.1", "--items", "100", "--per", "1000")
    assert again == found


def test_route_with_texts_alone_says_whom_to_ask_and_books_the_estimate(capsys, text):
    market = prompts(40, 1)
    write("bare.jsonl", [{"id": line["id"], "text": line["text"]} for line in lines_of(market)])
    found = decisions(capsys, "text.npz", "bare.jsonl", "--total", "40", "--items", "40")
    _, costs = text.estimate(market, 1.0)
    assert {d["ask"] for d in found} == {"mini", "big"} and all(d["asked"] == [] for d in found)
    expected = [costs[n, text.services.index(d["ask"])] for n, d in enumerate(found)]
    assert [d["cost"] for d in found] == pytest.approx(expected, abs=1e-8) and sum(expected) <= 41


def test_route_once_those_asked_first_have_answered(capsys):
    lines = lines_of(voters(20, 1))
    for line in lines:
        for key in ("predictions", "costs"):
            del line[key]["expert"]
    lines[0]["predictions"]["one"] = None
    write("votes.jsonl", lines)
    found = decisions(capsys, "votes.npz", "votes.jsonl", "--total", "60", "--items", "20")
    assert found[0]["ask"] == "expert" and found[0]["asked"] == ["two"]
    assert "the call of one failed" in found[0]["failed"]["one"]
    agreed = [line["predictions"]["one"] == line["predictions"]["two"] for line in lines]
    asks = np.array([d["ask"] == "expert" for d in found[1:]])
    same = np.array(agreed[1:])
    assert asks[~same].all() and asks[same].mean() < 0.3
    assert all(set(d["asked"]) == {"one", "two"} for d in found[1:])


def test_health_of_what_was_routed(capsys):
    """Items like those of training; then, on another ledger, sums alone, of which training had half."""
    market = prompts(300, 1)
    lines = lines_of(market)
    sums = [line for n, line in enumerate(lines) if market.quality[n, 0] == 0]
    options = ["--per", "1000", "--ledger", "sqlite:///health.db"]
    write("usual.jsonl", lines[:150])
    found = decisions(capsys, "text.npz", "usual.jsonl", "--total", "0.6", "--items", "400", *options)
    code, out, _ = run(capsys, "health", "text.npz", *options, "--json")
    told = json.loads(out)
    assert code == 0 and (told["items"], told["items_left"], told["drift"]["items"]) == (150, 250, 150)
    assert told["spent"] == pytest.approx(sum(d["cost"] for d in found)) and not told["warnings"]
    assert told["accuracy"]["expected"] == pytest.approx(np.mean([d["expected"] for d in found]))
    write("sums.jsonl", sums)
    options = ["--per", "1000", "--ledger", "sqlite:///sums.db"]
    decisions(capsys, "text.npz", "sums.jsonl", "--total", "1", "--items", "400", *options)
    code, out, _ = run(capsys, "health", "text.npz", *options)
    assert code == 1 and "drifted" in out and "the estimates of mini" in out


# --- other prices


@pytest.mark.parametrize("base", ["none", "mini"])
def test_other_prices_are_as_if_it_was_trained_with_them(base):
    old, new = priced(prompts(120), 0.2, 1.0), priced(prompts(120), 0.2, 0.5)
    strategy = Strategy.fit(old, [0.8], base=base, options=FAST).with_prices({"big": 0.5}, budgets=[0.4])
    trained = Strategy.fit(new, [0.4], base=base, options=FAST)
    assert strategy.plans == trained.plans and strategy.prices.tolist() == [0.2, 0.5]
    others = priced(prompts(80, 1), 0.2, 0.5)
    assert strategy.decide(others, 0.4).tolist() == trained.decide(others, 0.4).tolist()
    assert strategy.evaluate(others, 0.4).cost <= 0.4 * (1 + 1e-12)
    with pytest.raises(FrugalError, match=r"has the prices mini 0\.2, big 1, but the strategy was"):
        strategy.evaluate(priced(prompts(80, 1), 0.2, 1.0), 0.4)


def test_mean_costs_that_change_multiply_the_costs_of_calls(text, tmp_path):
    mean = float(text.prices[1])
    assert text.with_prices({}).plans == text.plans
    halved = text.with_prices({"big": mean / 2}, budgets=[0.5])
    trained = Strategy.fit(scaled(prompts(150), 1, 0.5), [0.5], base="none", options=FAST)
    for name in ("dual_price", "accuracy", "cost", "asks_no_more"):
        assert getattr(halved.plan(0.5), name) == pytest.approx(getattr(trained.plan(0.5), name))
    halved.save(tmp_path / "halved.npz")
    others = scaled(prompts(80, 1), 1, 0.5)
    for strategy in (halved, Strategy.load(tmp_path / "halved.npz")):
        for found, expected in zip(
            strategy.estimate(others, 0.5), trained.estimate(others, 0.5), strict=True
        ):
            assert np.allclose(found, expected)


def test_what_a_call_cost_tells_the_same_at_other_prices(votes, tmp_path):
    """Its cost is among what is learnt from: it is that at the prices of training."""
    cheaper = votes.with_prices({"one": votes.prices[0] / 4})
    cheaper.save(tmp_path / "cheaper.npz")
    before = votes.estimate(voters(50, 1), 2.5)[0]
    now = Strategy.load(tmp_path / "cheaper.npz").estimate(scaled(voters(50, 1), 0.25, 1, 1), 2.5)[0]
    assert np.allclose(before, now)
    assert not np.allclose(before, votes.estimate(scaled(voters(50, 1), 0.25, 1, 1), 2.5)[0])


@pytest.mark.parametrize(
    ("prices", "budgets", "sentence"),
    [
        ({"huge": 1}, None, "there is no service 'huge'; its services: mini, big"),
        ({"mini": -1}, None, "the price of mini is -1"),
        ({"mini": 0}, None, "the mean cost of a call of mini cannot change from"),
        ({"mini": 5, "big": 5}, None, "does not pay for the base service"),
        ({}, [], "no budgets were given"),
    ],
)
def test_mistakes_with_prices(text, prices, budgets, sentence):
    with pytest.raises(FrugalError, match=sentence):
        text.with_prices(prices, budgets)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["budget", "text.npz", "--accuracy", "3"], "The accuracy is 3.0"),
        (["services", "text.npz", "--budget", "0.01"], "does not pay for the base"),
        (["explain", "text.npz", "one.json", "--budget", "0.01"], "does not pay for the base"),
        (["explain", "text.npz", "no_text.json"], "have no text"),
        (["explain", "text.npz", "number.json"], "The item's text is 5; give a text"),
        (
            ["explain", "votes.npz", "one.json"],
            "one is asked first, and the item's predictions do not name it",
        ),
        (["explain", "votes.npz", "null.json"], "the call of one failed"),
        (["explain", "votes.npz", "strange.json"], "The item's costs are 3; give an object"),
        (
            ["route", "text.npz", "one.json", "--total", "1", "--items", "1", "--pace", "fixed"],
            "there is one pace",
        ),
        (["route", "text.npz", "one.json"], "no budget was given"),
        (
            ["serve", "text.npz", "--total", "1", "--items", "9", "--port", "0", "--pace", "fixed"],
            "there is one pace",
        ),
        (["health", "text.npz", "--ledger", "sqlite:///here.db"], "is new; give Ledger.open a budget"),
        (["health", "text.npz"], "--ledger is missing"),
    ],
)
def test_mistakes_are_one_sentence(capsys, arguments, sentence):
    if arguments[0] == "serve":
        pytest.importorskip("uvicorn")
    Path("here.db").touch()
    write("one.json", [{"id": "a", "text": "add 17"}])
    write("no_text.json", [{"id": "a"}])
    write("number.json", [{"id": "a", "text": 5}])
    write("null.json", [{"id": "a", "predictions": {"one": None, "two": []}}])
    write("strange.json", [{"id": "a", "costs": 3}])
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "") and sentence in err and "Traceback" not in err


def test_check_compares_budgets_with_the_mean_costs_in_the_data(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    market = prompts(60)
    write("prompts.jsonl", lines_of(market))
    most = np.sort(market.costs.mean(axis=0))[-4:].sum()
    code, out, _ = run(capsys, "check", "prompts.jsonl", "--budget", f"{11 * most:.6f}")
    assert code == 0 and "is more than 10 times the most that an item can cost" in out
    assert f"can cost, {most:.6g}" in out
    # Not in USD per 10,000 items: small costs are nothing to wonder at.
    code, out, _ = run(capsys, "check", "prompts.jsonl", "--budget", f"{most / 2:.6f}")
    assert code == 0 and "one call" not in out and "is more than" not in out
