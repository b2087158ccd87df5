"""Who may ask, and what may be sent: bad requests get a 4xx and one sentence, and change nothing."""

import json
import socket
import threading

import pytest

from frugalmct.errors import FrugalError
from frugalmct.serve import server
from frugalmct.serve.desk import Desk
from frugalmct.serve.models import DecideRequest, OpenRequest, read

JSON = {"Content-Type": "application/json"}
TOKEN = "a-token-of-some-length-0123"
DEEP = b'{"ticket": "t", "answers": {"cheap": ' + b"[" * 5000 + b"]" * 5000 + b"}}"


@pytest.fixture
def client(make_router, serving):
    with serving(make_router(), most_bytes=100_000) as found:
        yield found


@pytest.mark.parametrize(
    ("path", "body", "status", "words"),
    [
        ("/open", b"", 422, "the request is not JSON"),
        ("/open", b"\xff\xfe", 422, "the request is not JSON"),
        ("/open", b"[]", 422, "; give a JSON object with 'id', 'text' and 'features'"),
        ("/open", b'{"id": 1}', 422, "the request's 'id' is wrong: input should be a valid string; 1 was"),
        ("/open", b'{"id": ""}', 422, "at least 1 character"),
        ("/open", b'{"id": "%s"}' % (b"x" * 501), 422, "at most 500 characters"),
        ("/open", b'{"id": "a\\u0000b"}', 422, "the character NUL is not allowed"),
        ("/open", b'{"id": "\\ud800"}', 422, "is wrong: input should be a valid string"),
        ("/open", b'{"id": "a", "id": "b"}', 422, "the key 'id' is given twice"),
        ("/open", b'{"id": "a", "price": 3}', 422, "has a field 'price', which is not known"),
        ("/open", b'{"id": "a", "features": [1.0]}', 422, "brings 1 features, but the strategy was trained"),
        ("/open", b'{"features": [NaN]}', 422, "NaN is not a JSON number"),
        ("/open", b'{"features": [1e999]}', 422, "finite number"),
        ("/open", b'{"features": "1"}', 422, "should be a valid list"),
        ("/decide", b"{}", 422, "the request has no 'ticket'; give 'ticket' and 'answers'"),
        ("/decide", b'{"ticket": "t", "answers": []}', 422, "should be a valid dictionary"),
        ("/decide", b'{"ticket": "t", "answers": {"cheap": []}}', 404, "there is no such ticket"),
        ("/decide", DEEP, 422, "the request is nested too deeply"),
        ("/close", b'{"ticket": "../../etc/passwd"}', 404, "there is no such ticket"),
        ("/feedback", b'{"id": "a", "truth": "car"}', 422, "should be a valid list"),
        ("/open", b'{"id": "%s"}' % (b"x" * 200_000), 413, "at most 100,000 bytes"),
        ("/nowhere", b"{}", 404, "there is no such path"),
        ("/health", b"{}", 405, "does not take that method"),
    ],
)
def test_bad_requests_get_one_sentence(client, path, body, status, words):
    found, reply = client.post(path, body)
    assert (found, set(reply)) == (status, {"error"}), reply
    assert words in reply["error"] and "Traceback" not in reply["error"] and len(reply["error"]) < 700
    health = client.get("/health")[1]
    assert (health["spent"], health["reserved"], health["items"]) == (0, 0, 0)


def test_a_body_that_is_not_said_to_be_json_is_not_read(client):
    """What a page from elsewhere may send without asking has one of these types."""
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
        status, reply, _ = client.send("POST", "/open", b'{"id": "a"}', **{"Content-Type": kind})
        assert status == 415 and "Content-Type: application/json" in reply["error"]
    assert (
        client.send("POST", "/open", b"{}", **{"Content-Type": "application/json; charset=utf-8"})[0] == 200
    )


@pytest.mark.parametrize(
    ("host", "status"),
    [
        *[(name, 200) for name in ("localhost", "LOCALHOST:80", "127.0.0.1:9", "[::1]:9", "[::1]")],
        *[(name, 403) for name in ("evil.example", "evil.example:80", "localhost.evil.example", "")],
    ],
)
def test_only_this_machine_is_a_host(client, host, status):
    """A name elsewhere may point to 127.0.0.1: a page under that name must not be able to ask."""
    assert client.send("GET", "/health", Host=host)[0] == status
    assert client.send("POST", "/open", b"{}", Host=host, **JSON)[0] == status


def test_with_a_token_nothing_is_told_without_it(make_router, serving):
    with serving(make_router(), token=TOKEN) as client:
        for given in ("", TOKEN, f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}", f"Basic {TOKEN}", "Bearer é"):
            headers = {"Authorization": given.encode("latin-1")} if given else {}
            for method, path in (
                ("POST", "/open"),
                ("GET", "/health"),
                ("GET", "/metrics"),
                ("GET", "/status"),
            ):
                status, reply, sent = client.send(method, path, b"{}", **JSON, **headers)
                assert status == 401 and "the token is missing or wrong" in reply["error"]
                assert sent["www-authenticate"] == "Bearer"
        right = {"Authorization": f"Bearer {TOKEN}", "Host": "router.example"}
        assert client.send("POST", "/open", b"{}", **JSON, **right)[0] == 200
        assert client.send("GET", "/health", **right)[1]["items"] == 1
        # The page and the description hold no data.
        assert client.get("/")[0] == client.get("/openapi.json")[0] == 200
        assert "photo" not in client.get("/")[1]


def test_replies_are_not_kept_or_guessed_at(client):
    for method, path in (("GET", "/health"), ("GET", "/"), ("GET", "/nowhere"), ("POST", "/open")):
        headers = client.send(method, path, b"{}", **JSON)[2]
        assert headers["cache-control"] == "no-store" and headers["x-content-type-options"] == "nosniff"
        assert "access-control-allow-origin" not in headers
    policy = client.send("GET", "/")[2]["content-security-policy"]
    assert "default-src 'none'" in policy and "unsafe" not in policy and "http" not in policy


def test_a_body_that_does_not_come_is_not_waited_for(make_router, serving, monkeypatch):
    monkeypatch.setattr("frugalmct.serve.guard.BODY_SECONDS", 0.2)
    with serving(make_router()) as client, socket.create_connection(("127.0.0.1", client.port)) as link:
        link.settimeout(60)
        link.sendall(b"POST /open HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n")
        link.sendall(b"Content-Length: 100\r\n\r\n{")
        reply = link.makefile("rb").read()
        assert reply.startswith(b"HTTP/1.1 408 ") and b"did not arrive within 0.2 seconds" in reply


def test_two_requests_for_one_ticket_do_not_work_at_once(make_router, serving, monkeypatch):
    """The first is held up inside the router; the second is turned away and may come again."""
    router = make_router()
    inside, go_on = threading.Event(), threading.Event()
    decide = router.decide

    def slow(*arguments):
        router.money.may_wait()  # what takes its time is done in a thread
        inside.set()
        assert go_on.wait(60)
        return decide(*arguments)

    with serving(router) as client:
        request = {"ticket": client.ok("/open", {})["ticket"], "answers": {"cheap": []}}
        monkeypatch.setattr(router, "decide", slow)
        first = threading.Thread(target=client.post, args=("/decide", request))
        first.start()
        assert inside.wait(60)
        for path in ("/decide", "/close"):
            status, reply = client.post(path, request)
            assert status == 409 and "another request is at work" in reply["error"]
        go_on.set()
        first.join()
        assert client.post("/close", request)[0] == 200


def test_a_fault_of_ours_is_logged_and_not_told(make_router, serving, monkeypatch, caplog):
    router = make_router()
    with serving(router) as client:
        monkeypatch.setattr(router, "open", lambda *_, **__: 1 / 0)
        status, reply = client.post("/open", {})
        assert (status, reply) == (500, {"error": "the server failed at this request; its log says why."})
    assert "ZeroDivisionError" in caplog.text


def test_tickets_that_nobody_closes_do_not_fill_the_memory(make_router):
    import asyncio

    async def main():
        now = [0.0]
        router = make_router()
        desk = Desk(router, most_open=3, keep=100.0, clock=lambda: now[0])
        first, *_ = [(await desk.open({"id": str(n)}))["ticket"] for n in range(3)]
        with pytest.raises(FrugalError, match="3 tickets are open, which is the most"):
            await desk.open({"id": "d"})
        now[0] = 101.0
        await desk.open({"id": "d"})
        assert len(desk) == 1
        with pytest.raises(FrugalError, match="no such ticket"):
            await desk.decide(first, {"cheap": []})
        # Whether these were asked is not known: their money counts as spent.
        assert router.money.state().reserved == pytest.approx(4 * 0.0005)

    asyncio.run(main())


# --- where it listens


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1"])
def test_other_machines_need_a_token(host):
    with pytest.raises(FrugalError, match=r"can be reached from other machines, and no token was given"):
        server.listener(host, 0, None)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.8.9.10"])
def test_this_machine_needs_none(host):
    with server.listener(host, 0, None) as bound:
        assert server.url_of(bound).startswith("http://127.") or "[::1]" in server.url_of(bound)


def test_an_address_in_use_or_unknown_gets_a_sentence():
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(FrugalError, match="another --port"):
        server.listener("127.0.0.1", taken.getsockname()[1], None)
    with pytest.raises(FrugalError, match="is no address of this machine"):
        server.listener("no such host", 0, None)


def test_tokens(tmp_path, monkeypatch):
    monkeypatch.delenv(server.TOKEN_VARIABLE, raising=False)
    assert server.read_token(None) is None
    file = tmp_path / "token"
    file.write_text(f"  {TOKEN}\n")
    assert server.read_token(str(file)) == TOKEN
    monkeypatch.setenv(server.TOKEN_VARIABLE, "another-token-0123456789")
    assert server.read_token(None) == "another-token-0123456789" and server.read_token(str(file)) == TOKEN
    for bad in ("", "short", "with spaces in it, and long", "ümlaut-0123456789abcdef"):
        file.write_text(bad, encoding="utf-8")
        with pytest.raises(FrugalError, match="token"):
            server.read_token(str(file))
    with pytest.raises(FrugalError, match="cannot be read: No such file"):
        server.read_token(str(tmp_path / "absent"))


def test_what_the_reader_lets_through():
    item = read(OpenRequest, '{"id": "é", "text": "x", "features": [1, 2.5]}'.encode())
    assert item.model_dump(exclude_none=True) == {"id": "é", "text": "x", "features": [1.0, 2.5]}
    answers = {"cheap": [["car", 0.5]], "good": None}
    assert read(DecideRequest, json.dumps({"ticket": "t", "answers": answers}).encode()).answers == answers
