"""The web process speaks ASGI, so that a stream of events does not hold a thread."""

import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

pages = get_asgi_application()  # loads the models, which what follows imports

from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402
from channels.sessions import CookieMiddleware  # noqa: E402

from core.websockets import own_pages_only  # noqa: E402
from workloads.urls.sockets import routes  # noqa: E402

application = ProtocolTypeRouter(
    {"http": pages, "websocket": own_pages_only(CookieMiddleware(URLRouter(routes)))}
)
