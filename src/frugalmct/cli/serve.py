"""`frugalmct serve`: the router over HTTP."""

import argparse
from typing import Any

from frugalmct.cli.common import add_budget_options, command, router_of
from frugalmct.errors import FrugalError


def add(commands: Any) -> None:
    parser = command(
        commands,
        "serve",
        "route over HTTP: open, decide, close, feedback, health, metrics",
        "Serve a router over HTTP, with a status page at / and the API's description at /openapi.json\n"
        "(docs/serve.md). Listens on this machine alone; to be reached from others it needs a token, in a\n"
        "file or in the environment variable FRUGALMCT_TOKEN. Ends at Ctrl-C or SIGTERM.",
        "frugalmct serve strategy.npz --total 120 --items 100000 --per 10000 --ledger sqlite:///ledger.db\n"
        "  curl -H 'Content-Type: application/json' -d '{\"id\": \"a1\"}' http://127.0.0.1:8080/open",
    )
    parser.add_argument("strategy", metavar="STRATEGY", help="the file that train wrote")
    add_budget_options(parser)
    group = parser.add_argument_group("server")
    group.add_argument("--host", default="127.0.0.1", help="the address to listen on (127.0.0.1)")
    group.add_argument("--port", type=int, default=8080, help="0 for any that is free (8080)")
    group.add_argument("--token-file", metavar="FILE", help="holds the token that requests must send")
    group.add_argument(
        "--most-bytes", type=int, default=2**20, metavar="N", help="size of the largest request (1 MiB)"
    )
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    try:
        from frugalmct.serve import server
    except ModuleNotFoundError as error:
        raise FrugalError(
            f"serve: the Python package {error.name} is missing; install it with "
            "pip install 'frugalmct[serve]'."
        ) from None

    if not 0 <= arguments.port <= 65535:
        raise FrugalError(f"--port: {arguments.port} is no port; give a number from 0 to 65535.")
    if not 1024 <= arguments.most_bytes <= 2**24:
        raise FrugalError(
            f"--most-bytes: {arguments.most_bytes} is too small or too large; give 1,024 to {2**24:,}."
        )
    token = server.read_token(arguments.token_file)
    bound = server.listener(arguments.host, arguments.port, token)
    with bound:
        router = router_of(arguments, arguments.ledger)
        server.serve(router, bound, token=token, most_bytes=arguments.most_bytes, as_json=arguments.json)
    return 0
