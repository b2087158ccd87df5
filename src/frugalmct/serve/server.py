"""Where to listen, with what token, and how to end: uvicorn around the application."""

import ipaddress
import json
import os
import signal
import socket
from pathlib import Path

import uvicorn

from frugalmct.errors import FrugalError
from frugalmct.live.percall import PerCallRouter
from frugalmct.live.router import Router
from frugalmct.serve.app import create_app
from frugalmct.serve.guard import LOOPBACK_NAMES, MOST_BYTES

TOKEN_VARIABLE = "FRUGALMCT_TOKEN"
SHORTEST_TOKEN = 16
MOST_CONNECTIONS = 1000
GRACE = 10
"""Seconds that requests under way have once the server is to end."""


def read_token(file: str | None) -> str | None:
    """The token in the file, or in the environment; None where there is neither."""
    if file is None:
        token, where = os.environ.get(TOKEN_VARIABLE), TOKEN_VARIABLE
        if token is None:
            return None
    else:
        try:
            token, where = Path(file).read_text(encoding="ascii"), file
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or "it is not plain text"
            raise FrugalError(f"serve: the token file {file} cannot be read: {reason}.") from None
    token = token.strip()
    if len(token) < SHORTEST_TOKEN or not token.isascii() or not token.isprintable() or " " in token:
        raise FrugalError(
            f"serve: the token in {where} is not one; give {SHORTEST_TOKEN} or more letters and digits, such "
            "as `openssl rand -hex 24` prints."
        )
    return token


def listener(host: str, port: int, token: str | None) -> socket.socket:
    """A socket that is bound; an address that others can reach is refused without a token."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError, OverflowError):
        raise FrugalError(f"serve: {host}:{port} is no address of this machine; give one.") from None
    family, kind, protocol, _, address = found[0]
    if token is None and not is_loopback(str(address[0])):
        raise FrugalError(
            f"serve: {host} can be reached from other machines, and no token was given; give --token-file or "
            f"{TOKEN_VARIABLE}, or listen on 127.0.0.1."
        )
    bound = socket.socket(family, kind, protocol)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind(address)
    except OSError as error:
        bound.close()
        raise FrugalError(
            f"serve: {host}:{port} cannot be listened on: {error.strerror}; choose another --port."
        ) from None
    return bound


def is_loopback(address: str) -> bool:
    return ipaddress.ip_address(address.partition("%")[0]).is_loopback


def url_of(bound: socket.socket) -> str:
    host, port = bound.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def serve(
    router: Router | PerCallRouter,
    bound: socket.socket,
    *,
    token: str | None = None,
    most_bytes: int = MOST_BYTES,
    as_json: bool = False,
) -> None:
    """Serves until SIGINT or SIGTERM; requests under way are finished, and the router is shut."""
    local = is_loopback(bound.getsockname()[0])
    app = create_app(router, token=token, hosts=LOOPBACK_NAMES, most_bytes=most_bytes)
    config = uvicorn.Config(
        app,
        # httptools is the faster one; h11 also limits how long a request's headers may be.
        http="auto" if local else "h11",
        ws="none",
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=MOST_CONNECTIONS,
        timeout_graceful_shutdown=GRACE,
    )
    # uvicorn ends in good order at these, and then raises them once more, for handlers it found.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: None)
    bound.listen(config.backlog)  # who connects from now on is served
    url = url_of(bound)
    text = json.dumps({"url": url, "token": token is not None}) if as_json else f"frugalmct: serving on {url}"
    print(text, flush=True)
    uvicorn.Server(config).run(sockets=[bound])
