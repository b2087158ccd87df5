"""A small strategy, a router of it and a server around that."""

from pathlib import Path
from typing import Any

import pytest
from http_server import running
from live_market import photos

from frugalmct import Budget, Router, Strategy

pytest.importorskip("fastapi", reason="these tests need FastAPI: pip install 'frugalmct[serve]'")
pytest.importorskip("uvicorn", reason="these tests need uvicorn: pip install 'frugalmct[serve]'")

PER = 1000


@pytest.fixture(scope="session")
def strategy() -> Strategy:
    return Strategy.fit(photos(400), [3.0, 5.0, 8.0], base="cheap", options={"trees": 20, "leaf": 5})


@pytest.fixture(scope="session")
def strategy_file(strategy, tmp_path_factory) -> Path:
    file = tmp_path_factory.mktemp("strategy") / "s.npz"
    strategy.save(file)
    return file


@pytest.fixture(scope="session")
def market():
    return photos(60, 2, "new")


@pytest.fixture
def make_router(strategy):
    def make(items: int = 60, rate: float = 5.0, ledger: str | None = None, **options: Any) -> Router:
        options = {"per": PER, "pace": "fixed"} | options
        return Router(strategy, Budget(total=rate * items / PER, items=items), ledger, **options)

    return make


@pytest.fixture
def serving():
    return running
