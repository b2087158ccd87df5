"""The application: the steps of an item, and behind the same guard what people and machines look at."""

import asyncio
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from typing import Any

from fastapi import FastAPI
from fastapi import Request as HTTPRequest
from fastapi.openapi.utils import get_openapi
from fastapi.responses import HTMLResponse, Response
from starlette.exceptions import HTTPException as StarletteHTTPException

from frugalmct import __version__
from frugalmct.errors import FrugalError
from frugalmct.live.percall import PerCallRouter
from frugalmct.live.router import Router
from frugalmct.serve.desk import Desk, desk_of
from frugalmct.serve.guard import Guard
from frugalmct.serve.metrics import CONTENT_TYPE, Requests, metrics
from frugalmct.serve.page import PAGE, POLICY
from frugalmct.serve.status import FRESH, Watch
from frugalmct.serve.steps import Steps, encoded, status_of

ABOUT = """Routes items to paid services within a budget. For each item: `open` it and ask the service named;
give `decide` its answer, and ask again while a service is named; `close` it and take the combined answer."""
THREADS = 12
"""For steps that wait: for a database, or for money that comes back. The ledger has connections for 15."""


def create_app(router: Router | PerCallRouter, fresh: float = FRESH, **guard: Any) -> Guard:
    """The router is shut when the application ends.

    fresh: seconds for which a look at it is good enough. guard: `token`, `hosts`, `most_bytes` of `Guard`.
    """
    desk, requests = desk_of(router), Requests()
    steps, watch = Steps(desk), Watch(router, desk, fresh)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(THREADS))
        looking = asyncio.create_task(watch.keep_looking())
        try:
            yield
        finally:
            looking.cancel()
            with suppress(asyncio.CancelledError):
                await looking
            await asyncio.to_thread(router.shut)

    # FastAPI's own pages of documentation load their scripts from elsewhere; the description alone is served.
    app = FastAPI(
        title="frugalmct",
        version=__version__,
        description=ABOUT,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
    )
    _add_looks(app, desk, watch, requests)
    _describe(app, steps)
    app.add_exception_handler(FrugalError, _refusal)
    app.add_exception_handler(StarletteHTTPException, _no_such_path)
    return Guard(app, steps, requests, **guard)


def _add_looks(app: FastAPI, desk: Desk, watch: Watch, requests: Requests) -> None:
    @app.get("/health", summary="Drift, accuracy, money, warnings")
    async def health() -> Response:
        return _json((await watch.health()).to_dict())

    @app.get("/metrics", summary="Metrics for Prometheus")
    async def metrics_text() -> Response:
        return Response(metrics(await watch.health(), desk, requests), media_type=CONTENT_TYPE)

    @app.get("/status", summary="What the status page shows")
    async def status() -> Response:
        return _json(await watch.status())

    @app.get("/", summary="The status page", response_class=HTMLResponse)
    async def page() -> Response:
        return HTMLResponse(PAGE, headers={"Content-Security-Policy": POLICY})


def _describe(app: FastAPI, steps: Steps) -> None:
    paths, schemas = steps.described()

    def openapi() -> dict[str, Any]:
        found = get_openapi(title=app.title, version=app.version, description=ABOUT, routes=app.routes)
        found["paths"] = paths | found["paths"]
        found.setdefault("components", {}).setdefault("schemas", {}).update(schemas)
        return found

    app.openapi = openapi  # type: ignore[method-assign]


def _json(value: Any, status: int = 200) -> Response:
    return Response(encoded(value), status, media_type="application/json")


async def _refusal(_: HTTPRequest, error: Exception) -> Response:
    return _json({"error": str(error)}, status_of(error))  # type: ignore[arg-type]


async def _no_such_path(_: HTTPRequest, error: Exception) -> Response:
    status = error.status_code  # type: ignore[attr-defined]
    words = {404: "there is no such path", 405: "this path does not take that method"}
    text = words.get(status, "the request cannot be served")
    return _json({"error": f"{text}; see /openapi.json."}, status)
