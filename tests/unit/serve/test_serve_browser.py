"""The status page in a real browser that can reach nothing but this server."""

import re
import shutil
import subprocess
from html import unescape

import pytest
from live_market import Recorded
from test_serve_steps import route

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
TOKEN = "a-token-of-some-length-0123"

pytestmark = pytest.mark.slow


def visit(port: int, folder) -> tuple[str, str]:
    """The page's text once its script has run, and what the browser complained of."""
    if not BROWSER:
        pytest.skip("no chromium here: the status page is not looked at in a browser (apt install chromium)")
    command = [
        *(BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"),
        *("--no-first-run", "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1"),
        *("--virtual-time-budget=4000", "--enable-logging=stderr", "--dump-dom"),
        *(f"--user-data-dir={folder / 'profile'}", f"http://127.0.0.1:{port}/"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    body = re.sub(r"<(style|script|noscript)\b.*?</\1>", "", done.stdout, flags=re.DOTALL)
    text = " ".join(unescape(re.sub(r"<[^>]+>", " ", body)).split())
    return text, "\n".join(line for line in done.stderr.splitlines() if "CONSOLE" in line)


def test_the_page_shows_the_router(make_router, market, serving, tmp_path):
    ask = Recorded(market)
    with serving(make_router(items=120)) as client:
        results = [route(client, ask, item) for item in ask.items()]
        client.ok(
            "/feedback", {"id": results[0]["id"], "truth": [label for label, _ in results[0]["answer"]]}
        )
        text, complaints = visit(client.port, tmp_path)
        status = client.get("/status")[1]
    assert not complaints
    good = sum("good" in result["asked"] for result in results)
    assert "all is well" in text or "1 warning(s)" in text, text
    assert f"cheap price 0.5 100.0 % good price 6 {100 * good / 60:.1f} %" in text
    assert "Share of the 60 items closed at this server; 0 are open." in text
    assert "reached, by true labels 100.0 %" in text
    assert f"promised by training {100 * status['health']['accuracy']['promised']:.1f} %" in text
    assert f"expected less promised {100 * status['health']['accuracy']['gap']:.2f} points" in text
    assert "the plan would have spent 0.3 " in text and "items 60 items still to come 60" in text
    assert "too few items for a verdict" in text


def test_with_a_token_the_page_asks_for_it(make_router, serving, tmp_path):
    with serving(make_router(), token=TOKEN) as client:
        text, _ = visit(client.port, tmp_path)
    assert "the token is missing or wrong" in text and "This server needs its token" in text
    assert "cheap" not in text
