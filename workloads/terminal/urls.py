"""Addresses of websockets."""

from typing import Any

from django.urls import path, re_path

from core.websockets import refuse
from workloads.terminal.socket import Terminal

routes: list[Any] = [
    path("workloads/<uuid:pk>/terminal/<int:rank>/", Terminal.as_asgi()),
    re_path("", refuse),  # type: ignore[arg-type]  # an ASGI application, as channels wants here
]
