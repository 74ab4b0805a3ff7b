"""One message to a real receiver: what it does wrong is the answer."""

import socket
import threading
from http.server import BaseHTTPRequestHandler

from pytest_django import Settings

from notifications.delivery.post import HookAnswer, post
from tests.notifications.receiver import Behavior, HookReceiver, answers, listening


def sent(receiver: HookReceiver, seconds: float = 5) -> HookAnswer:
    return post(receiver.url, '{"a": "ü"}', {"webhook-id": "msg_1"}, seconds=seconds)


def says(text: bytes) -> Behavior:
    def behave(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(text)

    return behave


def test_a_message_is_posted_with_its_headers(receiver: HookReceiver) -> None:
    receiver.behave = answers(200, "thanks")
    posted = sent(receiver)
    assert (posted.status, posted.answer, posted.fault) == (200, "thanks", "")
    assert posted.is_success
    (got,) = receiver.received
    assert (got.body, got.path) == ('{"a": "ü"}', "/hook")
    assert got.headers["webhook-id"] == "msg_1"
    assert got.headers["content-type"] == "application/json"
    assert got.headers["host"] == f"127.0.0.1:{receiver.port}"
    assert got.headers["user-agent"].startswith("Trainyard/")


def test_an_error_is_stored_with_the_beginning_of_the_answer(
    receiver: HookReceiver,
) -> None:
    receiver.behave = answers(500, "ö\0" * 50_000)
    posted = sent(receiver)
    assert (posted.status, posted.is_success) == (500, False)
    assert posted.fault == "The receiver answered 500."
    assert posted.answer.startswith("ö\ufffd")
    assert len(posted.answer.encode()) < 4096


def test_a_redirect_is_not_followed(receiver: HookReceiver) -> None:
    with listening() as other:
        receiver.behave = answers(302, Location=other.url)
        posted = sent(receiver)
    assert posted.status == 302
    assert "redirects" in posted.fault
    assert other.received == []


def test_a_slow_answer_is_cut_at_the_deadline_however_it_drips(receiver: HookReceiver) -> None:
    over = threading.Event()

    def drip(handler: BaseHTTPRequestHandler) -> None:
        while not over.wait(0.02):
            try:
                handler.wfile.write(b"H")
            except OSError:
                return

    receiver.behave = drip
    posted = sent(receiver, seconds=0.2)
    over.set()
    assert posted.fault == "No complete answer within 0.2 s."
    assert posted.milliseconds < 2000


def test_a_receiver_that_hangs_up_or_speaks_no_http_is_a_failure(receiver: HookReceiver) -> None:
    receiver.behave = lambda handler: handler.connection.close()
    assert sent(receiver).fault.startswith("The connection failed")
    receiver.behave = says(b"SSH-2.0-OpenSSH_9.2\r\n\r\n")
    assert sent(receiver).fault.startswith("The connection failed")
    receiver.behave = says(b"HTTP/1.1 200 OK\r\n" * 9999)
    assert sent(receiver).fault.startswith("The connection failed")


def test_nothing_is_sent_where_nobody_listens_or_no_name_is(settings: Settings) -> None:
    settings.WEBHOOK_NETWORKS = ["127.0.0.0/8"]
    with socket.create_server(("127.0.0.1", 0)) as held:
        port = held.getsockname()[1]
    assert "refused" in post(f"http://127.0.0.1:{port}/", "", {}).fault
    no_name = "The host name cannot be resolved. Check the address."
    assert post("http://nobody.invalid/", "", {}).fault == no_name


def test_a_name_is_connected_at_the_address_that_was_checked(
    receiver: HookReceiver, settings: Settings
) -> None:
    answers_in_turn = [["127.0.0.1"], ["127.0.0.99"]]

    def resolve(host: str, port: int) -> list[str]:
        return answers_in_turn.pop(0)

    posted = post(f"http://hooks.example.com:{receiver.port}/", "", {}, resolve=resolve)
    assert posted.is_success
    assert receiver.received[0].headers["host"] == f"hooks.example.com:{receiver.port}"
    assert len(answers_in_turn) == 1, "asked once"
    settings.WEBHOOK_NETWORKS = []
    refused = post(receiver.url, "", {}, resolve=lambda host, port: ["127.0.0.1"])
    assert "not a public address" in refused.fault
    assert len(receiver.received) == 1


def test_tls_is_checked_against_the_name(receiver: HookReceiver) -> None:
    url = receiver.url.replace("http:", "https:")
    assert post(url, "", {}).fault.startswith("TLS failed")
