"""Addresses for ``test_handler``: the last one answers on the event loop."""

from django.urls import path

from tests.config import test_handler

urlpatterns = [
    path("plain", test_handler.plain),
    path("api/plain", test_handler.plain),
    path("api/v1/token", test_handler.plain),
    path("pieces", test_handler.in_pieces),
    path("streaming", test_handler.streaming),
]
