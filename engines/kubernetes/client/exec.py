"""Run a program with a terminal in a rank's container, by the API's ``exec``."""

import json
import threading
from collections.abc import Sequence
from contextlib import suppress

from websocket import ABNF, WebSocket, WebSocketException

from engines.base import EngineError
from engines.kubernetes.client.api import Api
from engines.kubernetes.client.websocket import Bridge, close_websocket

STDIN = 0
STDOUT = 1
STATUS = 3
RESIZE = 4
# The server does not end a program whose connection is lost, so the shell first prints its pid.
ANNOUNCE_PID = 'echo $$; exec "$@"'
LONGEST_NUMBER = 64


class PodSession:
    """``EngineRefused`` if the pod does not exist or may not be entered."""

    def __init__(self, api: Api, path: str, container: str, argv: Sequence[str]) -> None:
        self._api = api
        self._path = path
        self._container = container
        self.exit_code: int | None = None
        self._refusal = ""
        self._pid = 0
        self._first_line = b""
        self._closing = threading.Lock()
        command = ["/bin/sh", "-c", ANNOUNCE_PID, "sh", *argv]
        self._bridge = Bridge(self._exec(command, tty=True), channel=STDIN, receive=self._receive)
        self.stream = self._bridge.stream
        self._bridge.start()

    @property
    def trouble(self) -> str:
        return self._refusal or self._bridge.trouble

    def resize(self, columns: int, rows: int) -> None:
        self._bridge.send(RESIZE, json.dumps({"Width": columns, "Height": rows}).encode())

    def close(self) -> None:
        if not self._closing.acquire(blocking=False):
            return
        self._bridge.close()
        if self._pid and self.exit_code is None:
            self._hang_up()

    def _exec(self, command: Sequence[str], *, tty: bool) -> WebSocket:
        query = [("container", self._container), ("stdout", "true")]
        query += [("stdin", "true"), ("tty", "true")] if tty else []
        return self._api.websocket(
            f"{self._path}/exec", [*query, *(("command", word) for word in command)]
        )

    def _receive(self, channel: int, data: bytes) -> bytes:
        if channel == STATUS:
            self._read_status(data)
            return b""
        if channel != STDOUT or self._pid:
            return data
        number, line, rest = (self._first_line + data).partition(b"\n")
        if line or len(number) > LONGEST_NUMBER:
            with suppress(ValueError):
                self._pid = int(number)
            return rest if self._pid else number + line + rest
        self._first_line = number
        return b""

    def _read_status(self, data: bytes) -> None:
        """Read the final status: success, an exit code, or that it could not be started."""
        status = json.loads(data)
        causes = (status.get("details") or {}).get("causes") or []
        codes = [cause["message"] for cause in causes if cause.get("reason") == "ExitCode"]
        if status.get("status") == "Success" or codes:
            self.exit_code = int(codes[0]) if codes else 0
        else:
            self._refusal = str(status.get("message") or "The program could not be started.")

    def _hang_up(self) -> None:
        """End the program. The kernel passes the hang-up on to its foreground process."""
        script = f"kill -HUP {self._pid}; sleep 1; kill -KILL {self._pid}"
        with suppress(EngineError):  # if the pod is gone, so is the program
            last = self._exec(["/bin/sh", "-c", script], tty=False)
            with suppress(WebSocketException, OSError):
                while last.recv_data_frame(True)[0] != ABNF.OPCODE_CLOSE:
                    pass
            close_websocket(last)
