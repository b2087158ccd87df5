"""The HTTP application: one function per path, each a few lines around the desk."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

from fastapi import FastAPI
from fastapi import Request as HTTPRequest
from fastapi.exceptions import StarletteHTTPException
from fastapi.responses import HTMLResponse, Response

from frugalmct import __version__
from frugalmct.errors import FrugalError
from frugalmct.live.records import LedgerError
from frugalmct.live.router import Router
from frugalmct.live.tickets import OutOfMoney
from frugalmct.serve import models
from frugalmct.serve.desk import Desk, Refused
from frugalmct.serve.guard import Guard
from frugalmct.serve.metrics import CONTENT_TYPE, Requests, metrics
from frugalmct.serve.page import PAGE, POLICY
from frugalmct.serve.status import Watch

LOG = logging.getLogger("frugalmct.serve")
ABOUT = """Routes items to paid services within a budget. For each item: `open` it and ask the service named;
give `decide` its answer, and ask again while a service is named; `close` it and take the combined answer."""
REFUSALS = {
    401: "the token is missing or wrong",
    402: "what is left of the budget does not pay for the base",
    404: "no such ticket",
    409: "another request is at work on the ticket",
    413: "the request is too large",
    422: "the request is not what it should be",
    424: "every service that could be asked failed",
    503: "the ledger cannot be used now, or too many tickets are open: try again",
}


def create_app(router: Router, **guard: Any) -> FastAPI:
    """guard: `token`, `hosts`, `most_bytes` of `Guard`. The router is shut when the application ends."""
    desk, requests = Desk(router), Requests()
    watch = Watch(router, desk)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
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
    _add_steps(app, desk)
    _add_looks(app, desk, watch, requests)
    app.add_exception_handler(FrugalError, _refusal)
    app.add_exception_handler(StarletteHTTPException, _no_such_path)
    app.add_exception_handler(Exception, _fault)
    app.add_middleware(Guard, requests=requests, **guard)
    return app


def _add_steps(app: FastAPI, desk: Desk) -> None:
    async def open_(request: models.OpenRequest) -> Response:
        return _json(await desk.open(request.model_dump(exclude_none=True)))

    async def decide(request: models.DecideRequest) -> Response:
        return _json(await desk.decide(request.ticket, request.answers))

    async def close(request: models.CloseRequest) -> Response:
        result = await desk.close(request.ticket, request.answers)
        return _json(result, 424 if "error" in result else 200)

    async def feedback(request: models.FeedbackRequest) -> Response:
        accuracy = await asyncio.to_thread(
            desk.router.feedback, request.id, request.truth, answer=request.answer
        )
        return _json({"accuracy": accuracy})

    _post(app, "/open", open_, models.OpenRequest, models.Step, "An item: whom to ask first", (402, 503))
    _post(app, "/decide", decide, models.DecideRequest, models.Step, "Whom to ask next", (404, 409, 503))
    _post(app, "/close", close, models.CloseRequest, models.Routed, "The answer", (404, 409, 424, 503))
    _post(app, "/feedback", feedback, models.FeedbackRequest, models.Judged, "True labels", ())


def _post(
    app: FastAPI,
    path: str,
    work: Callable[[Any], Awaitable[Response]],
    request_model: type[models.Request],
    reply: type,
    summary: str,
    refusals: tuple[int, ...],
) -> None:
    """The body is read by `models.read`, which is stricter than FastAPI's own reading and as fast."""

    async def endpoint(request: HTTPRequest) -> Response:
        return await work(models.read(request_model, await request.body()))

    schema = {"application/json": {"schema": request_model.model_json_schema()}}
    app.add_api_route(
        path,
        endpoint,
        methods=["POST"],
        summary=summary,
        description=reply.__doc__,
        operation_id=path.strip("/"),
        response_model=None,
        responses={200: {"model": reply}}
        | {
            code: {"model": models.Failure, "description": REFUSALS[code]}
            for code in (401, 413, 422, *refusals)
        },
        openapi_extra={"requestBody": {"required": True, "content": schema}},
    )


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


def _json(value: Any, status: int = 200) -> Response:
    content = json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8", "backslashreplace")
    return Response(content, status, media_type="application/json")


async def _refusal(_: HTTPRequest, error: Exception) -> Response:
    """A user's mistake, or a ledger that is away: one sentence."""
    status = {OutOfMoney: 402, LedgerError: 503, Refused: getattr(error, "status", 0)}.get(type(error), 422)
    return _json({"error": str(error)}, status)


async def _no_such_path(_: HTTPRequest, error: Exception) -> Response:
    status = error.status_code  # type: ignore[attr-defined]
    words = {404: "there is no such path", 405: "this path does not take that method"}
    text = words.get(status, "the request cannot be served")
    return _json({"error": f"{text}; see /openapi.json."}, status)


async def _fault(_: HTTPRequest, error: Exception) -> Response:
    """Ours: the log has it, the caller gets no more than that."""
    LOG.error("A request failed", exc_info=error)
    return _json({"error": "the server failed at this request; its log says why."}, 500)
