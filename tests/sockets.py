"""A browser's websocket on an ASGI application."""

from asgiref.testing import ApplicationCommunicator


class Socket(ApplicationCommunicator):
    async def connect(self) -> bool:
        await self.send_input({"type": "websocket.connect"})
        return bool((await self.receive_output(5))["type"] == "websocket.accept")

    async def send(self, content: bytes | str) -> None:
        kind = "bytes" if isinstance(content, bytes) else "text"
        await self.send_input({"type": "websocket.receive", kind: content})

    async def disconnect(self) -> None:
        await self.send_input({"type": "websocket.disconnect", "code": 1000})
        await self.wait(5)
