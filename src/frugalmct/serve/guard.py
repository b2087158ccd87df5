"""What every request passes first: who may ask, how much may be sent; and what every reply carries.

Without a token only this machine is served, and a page in its user's browser must not be able to ask in the
user's name: requests have to name this machine as their host, which defeats other names that point here, and
to send JSON as JSON, which a foreign page cannot do without being allowed to.
"""

import asyncio
import hmac
import json
import time
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any

from frugalmct.serve.metrics import Requests

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

MOST_BYTES = 2**20
BODY_SECONDS = 10.0
LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")
HEADERS = [
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
]
OPEN_PAGES = ("/", "/openapi.json")
"""What holds no data, and needs no token: the status page asks for one itself."""


class Guard:
    """ASGI middleware. `token`: None to serve this machine alone, under the names `hosts`."""

    def __init__(
        self,
        app: Callable[[Scope, Receive, Send], Awaitable[None]],
        requests: Requests,
        *,
        token: str | None = None,
        hosts: Iterable[str] = LOOPBACK_NAMES,
        most_bytes: int = MOST_BYTES,
    ) -> None:
        self.app, self.requests = app, requests
        self._token = None if token is None else b"Bearer " + token.encode()
        self._hosts = {host.lower().encode() for host in hosts}
        self._most_bytes = most_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started = time.perf_counter()
        status = 500

        async def note(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", ()), *HEADERS]
            await send(message)

        try:
            refused = self._fault(scope) or await self._body(scope, receive)
            if isinstance(refused, tuple):
                await _refuse(note, *refused)
            else:
                await self.app(scope, refused or receive, note)
        finally:
            self.requests.add(scope["path"], status, time.perf_counter() - started)

    def _fault(self, scope: Scope) -> tuple[int, str] | None:
        """Why this request is not looked at any further: its status and a sentence."""
        headers = dict(scope["headers"])
        if self._token is None:
            host = headers.get(b"host", b"").lower()
            if not host.startswith(b"[") or host.rpartition(b":")[0].endswith(b"]"):
                host = host.rpartition(b":")[0] or host
            if host not in self._hosts:
                return 403, "this server answers under the name of this machine alone; use localhost."
        elif scope["path"] not in OPEN_PAGES:
            given = headers.get(b"authorization", b"")
            if not hmac.compare_digest(given, self._token):
                return 401, "the token is missing or wrong; send it as 'Authorization: Bearer TOKEN'."
        if scope["method"] == "POST" and not headers.get(b"content-type", b"").lower().startswith(
            b"application/json"
        ):
            return 415, "the request must be JSON; send it with 'Content-Type: application/json'."
        return None

    async def _body(self, scope: Scope, receive: Receive) -> tuple[int, str] | Receive | None:
        """The whole body, for what comes after to receive at once; or why it is not taken."""
        if scope["method"] != "POST":
            return None
        parts, size = [], 0
        too_much = 413, f"the request is too large; at most {self._most_bytes:,} bytes are taken."
        try:
            async with asyncio.timeout(BODY_SECONDS):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        return 400, "the request broke off."
                    parts.append(message.get("body", b""))
                    size += len(parts[-1])
                    if size > self._most_bytes:
                        return too_much
                    if not message.get("more_body", False):
                        break
        except TimeoutError:
            return 408, f"the request did not arrive within {BODY_SECONDS:g} seconds; send it at once."
        whole = {"type": "http.request", "body": b"".join(parts), "more_body": False}

        async def again() -> Message:
            nonlocal whole
            if whole is not None:
                message, whole = whole, None
                return message
            return await receive()

        return again


async def _refuse(send: Send, status: int, text: str) -> None:
    body = json.dumps({"error": text}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    if status in (408, 413):
        headers.append((b"connection", b"close"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
