"""Connections to Valkey (or Redis)."""

from functools import cache

import redis
import redis.asyncio
from django.conf import settings

SOCKET_TIMEOUT = 5.0  # seconds; a dead broker must not hold a page or a task


@cache
def valkey_connection() -> redis.Redis:
    return redis.Redis.from_url(
        settings.REDIS_URL, socket_timeout=SOCKET_TIMEOUT, socket_connect_timeout=SOCKET_TIMEOUT
    )


def async_connection() -> redis.asyncio.Redis:
    """Return a new asyncio client, which belongs to the running event loop."""
    return redis.asyncio.Redis.from_url(settings.REDIS_URL, socket_connect_timeout=SOCKET_TIMEOUT)
