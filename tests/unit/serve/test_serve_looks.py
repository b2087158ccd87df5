"""Metrics, the API's description and the status page."""

import json
import re

import pytest
from live_market import Recorded
from test_serve_steps import route

from frugalmct.serve.metrics import BOUNDS, Requests
from frugalmct.serve.page import PAGE
from frugalmct.serve.status import History

SAMPLE = re.compile(r'^([a-z_]+)(?:\{([a-z]+="(?:[^"\\\n]|\\.)*"(?:,[a-z]+="(?:[^"\\\n]|\\.)*")*)\})? (\S+)$')


def parsed(text: str) -> dict[tuple[str, str], float]:
    """Prometheus' text format, strictly: every line a sample, or HELP and TYPE of the family that follows."""
    samples, family = {}, ""
    assert text.endswith("\n")
    for line in text.splitlines():
        if line.startswith("# "):
            family = line.split()[2]
            continue
        name, labels, value = SAMPLE.match(line).groups()
        assert name == family or re.fullmatch(rf"{family}_(bucket|sum|count)", name), line
        assert (name, labels) not in samples
        samples[name, labels or ""] = float(value)
    return samples


def test_metrics_tell_what_was_done(make_router, market, serving):
    ask = Recorded(market)
    with serving(make_router()) as client:
        results = [route(client, ask, item) for item in ask.items()]
        client.ok("/feedback", {"id": results[0]["id"], "truth": ["car"]})
        client.post("/close", {"ticket": "none"})
        client.ok("/open", {})
        status, text, headers = client.send("GET", "/metrics")
        health = client.get("/health")[1]
    assert status == 200 and headers["content-type"].startswith("text/plain; version=0.0.4")
    found = parsed(text)
    assert found["frugalmct_closed_total", ""] == 60 and found["frugalmct_tickets_open", ""] == 1
    for service in ("cheap", "good", "best"):
        asked = sum(service in result["asked"] for result in results)
        assert found.get(("frugalmct_asked_total", f'service="{service}"'), 0) == asked
    assert found["frugalmct_cost_total", ""] == pytest.approx(sum(result["cost"] for result in results))
    assert found["frugalmct_money", 'kind="spent"'] == health["spent"]
    assert found["frugalmct_money", 'kind="reserved"'] == health["reserved"] == 0.0005
    assert found["frugalmct_accuracy", 'kind="expected"'] == health["accuracy"]["expected"]
    gap = health["accuracy"]["expected"] - health["accuracy"]["promised"]
    assert found["frugalmct_accuracy_gap", ""] == health["accuracy"]["gap"] == pytest.approx(gap)
    assert found["frugalmct_requests_total", 'path="/close",status="404"'] == 1
    assert found["frugalmct_requests_total", 'path="/close",status="200"'] == 60
    assert found["frugalmct_request_seconds_count", 'path="/close"'] == 61


def test_a_histogram_by_hand():
    requests = Requests()
    for seconds in (0.0005, 0.001, 0.003, 9.0):
        requests.add("/open", 200, seconds)
    requests.add("/who\nknows", 404, 0.5)
    found = parsed("\n".join(requests.samples()) + "\n")
    bucket = "frugalmct_request_seconds_bucket"
    below = {0.001: 2, 0.0025: 2, 0.005: 3, 5.0: 3}
    for bound, count in below.items():
        assert found[bucket, f'path="/open",le="{bound}"'] == count and bound in BOUNDS
    assert found[bucket, 'path="/open",le="+Inf"'] == 4
    assert found["frugalmct_request_seconds_sum", 'path="/open"'] == pytest.approx(9.0045)
    assert found["frugalmct_requests_total", 'path="other",status="404"'] == 1


def test_the_description_of_the_api(make_router, serving):
    with serving(make_router()) as client:
        status, found = client.get("/openapi.json")
        assert client.get("/docs")[0] == client.get("/redoc")[0] == 404, "these would load from elsewhere"
    assert status == 200 and found["openapi"].startswith("3.")
    assert set(found["paths"]) == {
        *("/open", "/decide", "/close", "/feedback", "/health", "/metrics", "/status", "/")
    }
    text = json.dumps(found)
    named = set(re.findall(r'"#/components/schemas/(\w+)"', text))
    assert named <= found["components"]["schemas"].keys()
    for path in ("/open", "/decide", "/close", "/feedback"):
        described = found["paths"][path]["post"]
        (reference,) = described["requestBody"]["content"]["application/json"]["schema"].values()
        schema = found["components"]["schemas"][reference.rpartition("/")[2]]
        assert schema["additionalProperties"] is False and "examples" in json.dumps(schema)
        assert {"200", "401", "413", "422"} <= described["responses"].keys()


def test_the_examples_of_the_description_are_taken(make_router, serving):
    with serving(make_router()) as client:
        schemas = client.get("/openapi.json")[1]["components"]["schemas"]
        for path, name in (
            ("/open", "OpenRequest"),
            ("/decide", "DecideRequest"),
            ("/close", "CloseRequest"),
        ):
            example = {
                key: value["examples"][0]
                for key, value in schemas[name]["properties"].items()
                if "examples" in value
            }
            assert client.post(path, example)[0] in (200, 404)


def test_the_page_is_one_file():
    """Nothing in it is fetched from anywhere but this server."""
    assert not re.search(
        r"(?:src|href)=[\"'](?!data:)|@import|url\(|https?://(?!www\.w3\.org/2000/svg)", PAGE
    )
    assert "innerHTML" not in PAGE, "names are shown as text"


def test_history_in_constant_memory():
    history = History(most=10, every=5.0)
    for moment in range(1000):
        history.add(float(moment), 1.0)
    assert len(history.points) <= 10 and history.points[0] == (0.0, 1.0)
    assert history.every > 5.0
    times = [point[0] for point in history.points]
    assert times == sorted(times)


def test_the_page_s_numbers(make_router, market, serving):
    ask = Recorded(market)
    with serving(make_router(items=120)) as client:
        for item in ask.items():
            route(client, ask, item)
        status = client.get("/status")[1]
    assert status["planned"] == pytest.approx(status["health"]["money"] / 2), "half of the items have come"
    assert status["closed"] == status["asked"]["cheap"] == 60 and status["tickets"] == 0
    assert status["services"] == ["cheap", "good", "best"] and status["prices"] == [0.5, 6.0, 10.0]
