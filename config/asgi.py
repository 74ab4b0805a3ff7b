"""The web process speaks ASGI, so that a stream of events does not hold a thread."""

import os

from django import setup

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
setup(set_prefix=False)

# What follows imports models, which need Django to be set up.
from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402
from channels.sessions import CookieMiddleware  # noqa: E402

from config.handler import Handler  # noqa: E402
from core.websockets import own_pages_only  # noqa: E402
from workloads.urls.sockets import routes  # noqa: E402

application = ProtocolTypeRouter(
    {"http": Handler(), "websocket": own_pages_only(CookieMiddleware(URLRouter(routes)))}
)
