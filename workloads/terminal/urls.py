"""URLs of websockets."""

from typing import Any

from django.urls import path, re_path

from core.web.websockets import refuse_handshake
from workloads.terminal.forward_socket import PortForward
from workloads.terminal.program import ProgramTerminal
from workloads.terminal.socket import Terminal

#: For programs, which authenticate by token.
program_routes: list[Any] = [
    path("api/v1/workloads/<uuid:pk>/exec", ProgramTerminal.as_asgi()),
    path("api/v1/workloads/<uuid:pk>/portforward", PortForward.as_asgi()),
    re_path("", refuse_handshake),  # type: ignore[arg-type]  # an ASGI application, as channels wants here
]
routes: list[Any] = [
    path("workloads/<uuid:pk>/terminal/<int:rank>/", Terminal.as_asgi()),
    re_path("", refuse_handshake),  # type: ignore[arg-type]  # an ASGI application, as channels wants here
]
