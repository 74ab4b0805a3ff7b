"""Fixtures for tests of webhooks."""

from collections.abc import Iterator

import pytest
from pytest_django import Settings

from tests.notifications.receiver import HookReceiver, listening


@pytest.fixture
def receiver(settings: Settings) -> Iterator[HookReceiver]:
    """A receiver that answers 204, on a network to which messages may go."""
    settings.WEBHOOK_NETWORKS = ["127.0.0.0/8"]
    with listening() as it:
        yield it
