"""What tests of webhooks ask for."""

from collections.abc import Iterator

import pytest
from pytest_django import Settings

from tests.notifications.receiver import HookReceiver, listening


@pytest.fixture
def receiver(settings: Settings) -> Iterator[HookReceiver]:
    """One that answers 204, on a network that is allowed."""
    settings.WEBHOOK_NETWORKS = ["127.0.0.0/8"]
    with listening() as it:
        yield it
