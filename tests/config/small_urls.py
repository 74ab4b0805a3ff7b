"""Two addresses for ``test_handler``: one answers on a thread, one on the event loop."""

from django.urls import path

from tests.config import test_handler

urlpatterns = [path("plain", test_handler.plain), path("streaming", test_handler.streaming)]
