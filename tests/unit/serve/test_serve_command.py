"""`frugalmct serve` as a process: it says where it serves, routes, and ends in good order."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys

import pytest
from helpers import ROOT
from http_server import Client
from per_call_markets import FAST, prompts

from frugalmct import Budget, Router, Strategy
from frugalmct.cli import _parser, main
from frugalmct.live import Ledger
from frugalmct.serve.metrics import PATHS
from frugalmct.serve.steps import REFUSALS

BUDGET = ["--total", "0.3", "--items", "60", "--per", "1000"]


def start(*arguments) -> subprocess.Popen:
    command = [sys.executable, "-m", "frugalmct", "serve", *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_server_that_is_told_to_end_leaves_its_books_in_order(strategy_file, tmp_path, number):
    url = f"sqlite:///{tmp_path}/l.db"
    process = start(strategy_file, *BUDGET, "--ledger", url, "--port", "0", "--json")
    try:
        told = json.loads(process.stdout.readline())
        assert told["url"].startswith("http://127.0.0.1:") and told["token"] is False
        client = Client(int(told["url"].rpartition(":")[2]))
        done, left = (client.ok("/open", {"id": name})["ticket"] for name in ("done", "left"))
        client.ok("/close", {"ticket": done, "answers": {"cheap": [["car", 0.9]]}})
        process.send_signal(number)
        out, err = process.communicate(timeout=120)
    finally:
        process.kill()
        process.wait()
    assert (process.returncode, out, err) == (0, "", ""), left
    with Ledger.open(url) as ledger:
        state = ledger.state()
        assert state.items == 2 and state.spent == 0.0005
        # Nobody knows whether the service was asked for the other one: its money stays reserved.
        assert state.reserved == 0.0005
        assert ledger.recall("since")


def test_a_strategy_with_costs_per_call(tmp_path):
    Strategy.fit(prompts(120), [1.0], base="none", options=FAST).save(tmp_path / "calls.npz")
    url = f"sqlite:///{tmp_path}/l.db"
    budget = ["--total", "0.06", "--items", "60", "--per", "1000"]
    process = start(tmp_path / "calls.npz", *budget, "--ledger", url, "--port", "0", "--json")
    try:
        client = Client(int(json.loads(process.stdout.readline())["url"].rpartition(":")[2]))
        step = client.ok("/open", {"text": "hello friend"})
        call = {step["ask"]: {"answer": "hello", "cost": 0.25}}
        assert client.ok("/close", {"ticket": step["ticket"], "answers": call})["answer"] == "hello"
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=120)
    finally:
        process.kill()
        process.wait()
    assert (process.returncode, out, err) == (0, "", "")
    with Ledger.open(url) as ledger:
        state = ledger.state()
    assert (state.items, state.spent, state.reserved_nano) == (1, 0.00025, 0)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--host", "0.0.0.0"], "serve: 0.0.0.0 can be reached from other machines, and no token was given"),
        (["--port", "65536"], "--port: 65536 is no port"),
        (["--most-bytes", "1"], "--most-bytes: 1 is too small or too large"),
        (["--token-file", "absent"], "the token file absent cannot be read"),
        (["--host", "no such host"], "is no address of this machine"),
    ],
)
def test_mistakes_get_a_sentence(strategy_file, capsys, monkeypatch, options, words):
    monkeypatch.delenv("FRUGALMCT_TOKEN", raising=False)
    assert main(["serve", str(strategy_file), *BUDGET, "--port", "0", *options]) == 2
    said = capsys.readouterr()
    assert words in said.err and not said.out and len(said.err.splitlines()) == 1


def test_a_strategy_or_budget_that_is_missing(strategy_file, capsys):
    assert main(["serve", "absent.npz", *BUDGET, "--port", "0"]) == 2
    assert "absent.npz: no such strategy file" in capsys.readouterr().err
    assert main(["serve", str(strategy_file), "--port", "0"]) == 2
    assert "no budget was given" in capsys.readouterr().err


def test_without_the_extra_it_says_what_to_install(strategy_file, tmp_path):
    """A folder in front of the packages stands for one that is not installed."""
    (tmp_path / "uvicorn.py").write_text("raise ModuleNotFoundError('gone', name='uvicorn')")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), *filter(None, sys.path)])}
    done = subprocess.run(
        [sys.executable, "-m", "frugalmct", "serve", str(strategy_file), *BUDGET, "--port", "0"],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    assert done.returncode == 2 and "pip install 'frugalmct[serve]'" in done.stderr
    assert "the Python package uvicorn is missing" in done.stderr


def test_the_page_s_program_and_options(strategy, serving, capsys):
    """docs/serve.md: its program against a server, its commands as far as the parser."""
    page = (ROOT / "docs" / "serve.md").read_text(encoding="utf-8")
    (program,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    with serving(Router(strategy, Budget(total=0.3, items=60), per=1000)) as client:
        exec(program.replace(":8080", f":{client.port}"), {})
        assert client.get("/health")[1]["items"] == 1
    assert re.match(r"\[\['billing', 0\.(8|79+)\]\] \['cheap'", capsys.readouterr().out)
    commands = re.findall(r"(?m)^frugalmct (serve .*)$", page)
    assert len(commands) == 2
    for command in commands:
        arguments = _parser().parse_args(shlex.split(command))
        assert arguments.strategy == "strategy.npz" and arguments.per == 10_000
    paths = set(re.findall(r"`(?:GET|POST) (/\w[\w.]*)`", page))
    assert paths == {*PATHS, "/openapi.json"}
    assert set(map(str, REFUSALS)) <= set(re.findall(r"\b4\d\d\b|\b503\b", page))
