"""The ASGI application of the web process. Event streams are asynchronous, so they hold no
thread."""

import os

from django import setup
from django.conf import settings

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
setup(set_prefix=False)

# The imports below load models, so Django must be set up before them.
from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402
from channels.sessions import CookieMiddleware  # noqa: E402

from config.handler import Handler  # noqa: E402
from core import garbage  # noqa: E402
from core.sqlite import checkpoints  # noqa: E402
from core.web.websockets import Receive, Scope, Send, refuse_foreign_pages, route_by_path  # noqa: E402
from workloads.terminal.urls import program_routes, routes  # noqa: E402
from workloads.tools.addresses import is_tool_host  # noqa: E402
from workloads.tools.app import serve_tool  # noqa: E402
from workloads.tools.headers import header_value  # noqa: E402

page_sockets = refuse_foreign_pages(CookieMiddleware(URLRouter(routes)))
site = ProtocolTypeRouter(
    {"http": Handler(), "websocket": route_by_path(page_sockets, URLRouter(program_routes))}
)


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    """Route by host name. Each tool of a workload has its own host, so that its pages never share
    an origin, and thus cookies, with ours."""
    host = header_value(scope["headers"], b"host").decode("latin-1")
    await (serve_tool if is_tool_host(host) else site)(scope, receive, send)


checkpoints.start_checkpoints(settings.DATABASES["default"])
garbage.tune_collector()
