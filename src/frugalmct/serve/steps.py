"""The paths that route an item: JSON in, JSON out, each a line around the desk.

They are served without FastAPI's own machinery, which would take longer than the routing; its description
of the application has them all the same.
"""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import JsonSchemaMode, models_json_schema

from frugalmct.errors import FrugalError
from frugalmct.live.records import LedgerError
from frugalmct.live.tickets import NoAnswer, OutOfMoney
from frugalmct.serve import models
from frugalmct.serve.desk import CallDesk, Desk, Refused

LOG = logging.getLogger("frugalmct.serve")
REFUSALS = {
    401: "the token is missing or wrong",
    402: "what is left of the budget does not pay for the base",
    404: "no such ticket",
    409: "another request is at work on the ticket",
    413: "the request is too large",
    415: "the request is not sent as JSON",
    422: "the request is not what it should be",
    424: "every service that could be asked failed, or with costs per call the money ended before",
    503: "the ledger cannot be used now, or too many tickets are open: try again",
}
ALWAYS = (401, 413, 415, 422)
Reply = tuple[int, bytes]


@dataclass(frozen=True)
class Step:
    """One path: what it takes, what it gives, and how else it may end."""

    request: type[models.Request]
    reply: type[BaseModel]
    summary: str
    refusals: tuple[int, ...]
    work: Callable[[Any], Awaitable[dict[str, Any]]]


class Steps:
    """Belongs to one event loop, like its desk."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        m = models
        routed = m.Standing if isinstance(desk, CallDesk) else m.Routed
        self.paths = {
            "/open": Step(m.OpenRequest, m.Step, "An item: whom to ask first", (402, 424, 503), self._open),
            "/decide": Step(m.DecideRequest, m.Step, "Whom to ask next", (404, 409, 424, 503), self._decide),
            "/close": Step(m.CloseRequest, routed, "The answer", (404, 409, 424, 503), self._close),
            "/feedback": Step(m.FeedbackRequest, m.Judged, "How good an answer was", (503,), self._feedback),
        }

    async def answer(self, path: str, body: bytes) -> Reply:
        """Status and content; whatever goes wrong is one sentence."""
        step = self.paths[path]
        try:
            reply = await step.work(models.read(step.request, body))
            return 424 if "error" in reply else 200, encoded(reply)
        except FrugalError as error:
            return status_of(error), encoded({"error": str(error)})
        except Exception:
            LOG.exception("A request to %s failed", path)
            return 500, encoded({"error": "the server failed at this request; its log says why."})

    async def _open(self, request: models.OpenRequest) -> dict[str, Any]:
        return await self.desk.open(request.model_dump(exclude_none=True))

    async def _decide(self, request: models.DecideRequest) -> dict[str, Any]:
        return await self.desk.decide(request.ticket, request.answers)

    async def _close(self, request: models.CloseRequest) -> dict[str, Any]:
        return await self.desk.close(request.ticket, request.answers)

    async def _feedback(self, request: models.FeedbackRequest) -> dict[str, Any]:
        feedback, r = self.desk.router.feedback, request
        told = await asyncio.to_thread(feedback, r.id, r.truth, r.answer, quality=r.quality)
        return {"accuracy": told}

    def described(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """OpenAPI: the paths, and the schemas that they refer to."""
        kinds = {kind for step in self.paths.values() for kind in (step.request, step.reply)}
        ordered: list[type[BaseModel]] = [*sorted(kinds, key=lambda kind: kind.__name__), models.Failure]
        wanted: list[tuple[type[BaseModel], JsonSchemaMode]] = [(kind, "validation") for kind in ordered]
        found, definitions = models_json_schema(wanted, ref_template="#/components/schemas/{model}")
        schemas = {kind: {"application/json": {"schema": found[kind, mode]}} for kind, mode in wanted}
        paths = {path: {"post": _operation(path, step, schemas)} for path, step in self.paths.items()}
        return paths, definitions["$defs"]


def _operation(path: str, step: Step, schemas: dict[type, Any]) -> dict[str, Any]:
    refusals = {
        str(code): {"description": REFUSALS[code], "content": schemas[models.Failure]}
        for code in sorted((*ALWAYS, *step.refusals))
    }
    return {
        "summary": step.summary,
        "operationId": path.strip("/"),
        "requestBody": {"required": True, "content": schemas[step.request]},
        "responses": {"200": {"description": step.reply.__doc__, "content": schemas[step.reply]}} | refusals,
    }


def status_of(error: FrugalError) -> int:
    """A user's mistake is the caller's to mend; a ledger that is away is not, nor services that all fail."""
    if isinstance(error, Refused):
        return error.status
    statuses = {OutOfMoney: 402, NoAnswer: 424, LedgerError: 503}
    return next((status for kind, status in statuses.items() if isinstance(error, kind)), 422)


def encoded(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8", "backslashreplace")
