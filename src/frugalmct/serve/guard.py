"""The door: who may ask, how much may be sent; then the steps of an item, or the rest of the application.

Without a token only this machine is served, and a page in its user's browser must not be able to ask in the
user's name: requests have to name this machine as their host, which defeats other names that point here, and
to send JSON as JSON, which a foreign page cannot do without being allowed to.
"""

import asyncio
import hmac
import time
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any

from frugalmct.serve.metrics import Requests
from frugalmct.serve.steps import Reply, Steps, encoded

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
BROKEN_OFF = (408, 413)
"""After these the rest of the request is not read."""


class Guard:
    """The ASGI application. `token`: None to serve this machine alone, under the names `hosts`."""

    def __init__(
        self,
        app: Callable[[Scope, Receive, Send], Awaitable[None]],
        steps: Steps,
        requests: Requests,
        *,
        token: str | None = None,
        hosts: Iterable[str] = LOOPBACK_NAMES,
        most_bytes: int = MOST_BYTES,
    ) -> None:
        self.app, self.steps, self.requests = app, steps, requests
        self._token = None if token is None else b"Bearer " + token.encode()
        self._hosts = {host.lower().encode() for host in hosts}
        self._most_bytes = most_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started = time.perf_counter()
        status = 500
        try:
            reply = self._refusal(scope)
            if reply is None and scope["method"] == "POST" and scope["path"] in self.steps.paths:
                reply = await self._step(scope, receive)
            if reply is None:
                status = await self._look(scope, receive, send)
            else:
                status = reply[0]
                await _send(send, reply)
        finally:
            self.requests.add(scope["path"], status, time.perf_counter() - started)

    def _refusal(self, scope: Scope) -> Reply | None:
        """Why this request is not looked at any further."""
        headers = dict(scope["headers"])
        if self._token is None:
            if _host(headers.get(b"host", b"")) not in self._hosts:
                return _refused(403, "this server answers as this machine alone; ask http://localhost.")
        elif scope["path"] not in OPEN_PAGES:
            given = headers.get(b"authorization", b"")
            if not hmac.compare_digest(given, self._token):
                return _refused(401, "the token is missing or wrong; send 'Authorization: Bearer TOKEN'.")
        if scope["method"] == "POST":
            kind = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
            if kind != b"application/json":
                return _refused(
                    415, "the request is not JSON; send it with 'Content-Type: application/json'."
                )
        return None

    async def _step(self, scope: Scope, receive: Receive) -> Reply:
        parts: list[bytes] = []
        left = self._most_bytes
        try:
            async with asyncio.timeout(BODY_SECONDS):
                more = True
                while more:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        return _refused(400, "the request broke off.")
                    parts.append(message.get("body", b""))
                    left -= len(parts[-1])
                    if left < 0:
                        most = f"{self._most_bytes:,}"
                        return _refused(413, f"the request is too large; at most {most} bytes are taken.")
                    more = message.get("more_body", False)
        except TimeoutError:
            return _refused(408, f"the request did not arrive within {BODY_SECONDS:g} seconds; send it anew.")
        return await self.steps.answer(scope["path"], b"".join(parts))

    async def _look(self, scope: Scope, receive: Receive, send: Send) -> int:
        """The rest of the application; returns its status."""
        status = 500

        async def note(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", ()), *HEADERS]
            await send(message)

        await self.app(scope, receive, note)
        return status


def _host(header: bytes) -> bytes:
    """Without the port; an IPv6 address has colons of its own, in brackets."""
    name = header.strip().lower()
    return name.rpartition(b":")[0] if b":" in name.rpartition(b"]")[2] else name


def _refused(status: int, text: str) -> Reply:
    return status, encoded({"error": text})


async def _send(send: Send, reply: Reply) -> None:
    status, body = reply
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body)), *HEADERS]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    if status in BROKEN_OFF:
        headers.append((b"connection", b"close"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
