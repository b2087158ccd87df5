"""A server on a free port of this machine, in a thread of its own, and a client."""

import http.client
import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from frugalmct import Router


class Client:
    """Requests over one connection, as a program would send them."""

    def __init__(self, port: int, headers: dict[str, str] | None = None) -> None:
        self.port, self.headers = port, headers or {}

    def send(
        self, method: str, path: str, body: bytes | None = None, **headers: str
    ) -> tuple[int, Any, dict]:
        """Status, content (decoded if it is JSON) and headers."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, body, self.headers | headers)
            reply = connection.getresponse()
            content = reply.read()
        finally:
            connection.close()
        kind = reply.headers.get("Content-Type", "")
        return reply.status, json.loads(content) if "json" in kind else content.decode(), dict(reply.headers)

    def get(self, path: str) -> tuple[int, Any]:
        return self.send("GET", path)[:2]

    def post(self, path: str, value: Any) -> tuple[int, Any]:
        body = value if isinstance(value, bytes) else json.dumps(value).encode()
        return self.send("POST", path, body, **{"Content-Type": "application/json"})[:2]

    def ok(self, path: str, value: Any) -> dict[str, Any]:
        status, reply = self.post(path, value)
        assert status == 200, reply
        return reply


@contextmanager
def running(router: Router, **guard: Any) -> Iterator[Client]:
    import uvicorn

    from frugalmct.serve.app import create_app

    bound = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(
        create_app(router, fresh=0.0, **guard), log_level="error", ws="none", access_log=False
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]})
    thread.start()
    try:
        while not server.started and thread.is_alive():
            time.sleep(0.01)
        yield Client(bound.getsockname()[1])
    finally:
        server.should_exit = True
        thread.join()
        bound.close()
