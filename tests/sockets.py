"""A client for websockets of an ASGI application."""

from asgiref.testing import ApplicationCommunicator


class Socket(ApplicationCommunicator):
    """One websocket, as a browser opens it."""

    async def connect(self) -> bool:
        """Open the websocket, and return whether it was accepted."""
        await self.send_input({"type": "websocket.connect"})
        return bool((await self.receive_output(5))["type"] == "websocket.accept")

    async def send(self, content: bytes | str) -> None:
        kind = "bytes" if isinstance(content, bytes) else "text"
        await self.send_input({"type": "websocket.receive", kind: content})

    async def disconnect(self) -> None:
        """Close the websocket as a browser does, and wait for the application to end."""
        await self.send_input({"type": "websocket.disconnect", "code": 1000})
        await self.wait(5)
