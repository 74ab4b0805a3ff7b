"""An API server that cannot be asked: what is said of it, from real servers of this machine."""

import base64
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
import yaml
from urllib3.exceptions import MaxRetryError, ReadTimeoutError, SSLError

from engines.base import EngineUnavailable
from engines.kubernetes.client.connect import connect
from engines.kubernetes.client.outage import explain_outage
from engines.kubernetes.engine import KubernetesEngine
from spec.problems.causes import CauseKind
from tests.certificates import certificate
from tests.engines.kubernetes.answering import answering

RAW = ("Max retries", "HTTPConnection", "_ssl.c", "[SSL", "Errno", "object at 0x")


class Page(BaseHTTPRequestHandler):
    """What any web server may say."""

    def do_GET(self) -> None:
        self.send_response(404 if self.path == "/missing/version" else 200)
        self.end_headers()
        self.wfile.write(b"<html>hello</html>")

    def log_message(self, *arguments: object) -> None:
        return


@contextmanager
def serving(certificate: Path | None = None) -> Iterator[int]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Page)
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def said(server: str, authority: str = "") -> str:
    cluster = {"server": server} | ({"certificate-authority-data": authority} if authority else {})
    kubeconfig = {
        "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": cluster}],
        "users": [{"name": "u", "user": {"token": "x"}}],
    }
    with pytest.raises(EngineUnavailable) as refused:
        KubernetesEngine(connect(yaml.safe_dump(kubeconfig))).check()
    assert not [raw for raw in RAW if raw in str(refused.value)]
    return str(refused.value)


def test_a_certificate_that_does_not_do_says_why(tmp_path: Path) -> None:
    good, ours = certificate(tmp_path / "good.pem")
    _, other = certificate(tmp_path / "other.pem")
    named, of_named = certificate(tmp_path / "named.pem", "10.0.0.1")
    old, of_old = certificate(tmp_path / "old.pem", days=-1)
    with serving(good) as port:
        told = said(f"https://127.0.0.1:{port}", other)
        assert f"127.0.0.1:{port} has a certificate that the kubeconfig's CA did not sign" in told
        assert "certificate-authority-data" in told
        assert "not a Kubernetes API server" in said(f"https://127.0.0.1:{port}", ours)
        broken = base64.b64encode(b"no certificate").decode()
        assert "the CA in the kubeconfig is not a certificate" in said(
            f"https://127.0.0.1:{port}", broken
        )
    with serving(named) as port:
        assert "a certificate for other names" in said(f"https://127.0.0.1:{port}", of_named)
    with serving(old) as port:
        assert "a certificate that ended" in said(f"https://127.0.0.1:{port}", of_old)


def test_a_server_of_another_kind_is_told(tmp_path: Path) -> None:
    _, ours = certificate(tmp_path / "good.pem")
    with serving() as port:
        assert "does not speak TLS" in said(f"https://127.0.0.1:{port}", ours)
        assert "not a Kubernetes API server" in said(f"http://127.0.0.1:{port}")
        assert "not a Kubernetes API server" in said(f"http://127.0.0.1:{port}/missing")


def test_an_address_that_leads_nowhere_is_told() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and does not listen
        told = said(f"http://127.0.0.1:{taken.getsockname()[1]}")
    assert "does not answer: nothing listens there. Check whether it is running" in told


def test_silence_and_a_refused_certificate_are_told_apart() -> None:
    alert = "[SSL: TLSV13_ALERT_CERTIFICATE_REQUIRED] tlsv13 alert certificate required"
    refused = SSLError(ssl.SSLError(1, alert))
    silent = ReadTimeoutError(None, None, "")  # type: ignore[arg-type]  # as the pool of a closed connection
    for reason, told in (
        (refused, "does not accept the client certificate"),
        (silent, "it accepted the request but sent no response"),
    ):
        assert told in explain_outage(MaxRetryError(None, "/version", reason))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("said", "title"),
    [
        (
            'Internal error occurred: failed calling webhook "validator.pytorchjob.training-'
            'operator.kubeflow.org": failed to call webhook: context deadline exceeded',
            "The admission webhook validator.pytorchjob.training-operator.kubeflow.org does not "
            "answer",
        ),
        (
            "etcdserver: mvcc: database space exceeded",
            "The cluster does not accept it at the moment",
        ),
    ],
)
def test_a_server_that_takes_nothing_says_what_a_workload_waits_for(said: str, title: str) -> None:
    with answering() as server:
        server.answers["/x"] = (500, said)
        with pytest.raises(EngineUnavailable) as caught:
            server.api.create("/x", {})
    cause = caught.value.cause
    assert cause
    assert (cause.kind, cause.title, cause.said) == (CauseKind.OPERATOR, title, said)
    assert cause.todo.startswith("Retrying every")
