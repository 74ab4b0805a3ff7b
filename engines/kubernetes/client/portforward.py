"""Connect to a port of a pod, by the API's ``portforward``."""

import socket

from engines.base import EngineUnavailable
from engines.kubernetes.client.api import Api
from engines.kubernetes.client.websocket import Bridge

DATA = 0
ERROR = 1
PORT_BYTES = 2  # bytes of the port number that starts both channels


def forward(api: Api, path: str, port: int) -> socket.socket:
    """``path`` is the pod's. The connection ends at once if nothing listens on the port."""
    websocket = api.websocket(f"{path}/portforward", [("ports", str(port))])
    begun: set[int] = set()

    def receive(channel: int, data: bytes) -> bytes:
        if channel not in begun:
            begun.add(channel)
            data = data[PORT_BYTES:]
        if channel == ERROR and data:
            raise EngineUnavailable(data.decode(errors="replace"))
        return data if channel == DATA else b""

    bridge = Bridge(websocket, channel=DATA, receive=receive, half_closes=True)
    bridge.start()
    return bridge.stream
