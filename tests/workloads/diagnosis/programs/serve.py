"""Runs a command with a server on $PORT next to it: one that answers with a status, one with a
certificate of its own, or an object storage. Example: ``serve.py answer 429 COMMAND``."""

import os
import ssl
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

ADDRESS = ("127.0.0.1", int(os.environ["PORT"]))


class Answer(BaseHTTPRequestHandler):
    """Answers every request alike; ``slow`` answers only after a minute."""

    said = "200"

    def do_GET(self) -> None:
        status, _, code = self.said.partition(":")
        if status == "slow":
            time.sleep(60)
        self.send_response(200 if status == "slow" else int(status))
        if code:
            self.send_header("X-Error-Code", code)
        if status == "401" and not code:
            self.send_header("WWW-Authenticate", 'Basic realm="code"')
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_HEAD = do_POST = do_PUT = do_GET

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing: the server is not part of the tail."""


def answer(said: str) -> ThreadingHTTPServer:
    """Serve a status, such as ``429`` or ``403:AccessDenied`` with an error code."""
    Answer.said = said
    server = ThreadingHTTPServer(ADDRESS, Answer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def https() -> None:
    """Serve 200 with a self-signed certificate."""
    key = "/run/tails/key.pem"
    certificate = "/run/tails/cert.pem"
    make = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=datasets"]
    make += ["-days", "30", "-keyout", key, "-out", certificate]
    subprocess.run(make, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server = answer("200")
    server.socket = context.wrap_socket(server.socket, server_side=True)
    server.handle_error = lambda *_: None  # type: ignore[method-assign]


def s3(strict: bool) -> None:
    """Serve an object storage. If ``strict``, every request must be signed by someone who may send
    it."""
    os.environ["INITIAL_NO_AUTH_ACTION_COUNT"] = "0" if strict else "Infinity"
    import logging

    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.CRITICAL)
    ThreadedMotoServer(ip_address=ADDRESS[0], port=ADDRESS[1], verbose=False).start()


def main() -> int:
    kind, *command = sys.argv[1:]
    if kind == "https":
        https()
    elif kind == "answer":
        answer(command.pop(0))
    else:
        s3(command.pop(0) == "strict")
    code = subprocess.run(command, check=False).returncode
    os._exit(code if code >= 0 else 128 - code)  # open requests get no answer


if __name__ == "__main__":
    main()
