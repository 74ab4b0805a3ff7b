"""Lets another engine answer for clusters of a kind."""

from collections.abc import Callable

import pytest

from clusters.kinds import KINDS
from clusters.models import Cluster
from engines.base import Engine


def answers(
    monkeypatch: pytest.MonkeyPatch, kind: str, connect: Callable[[Cluster], Engine]
) -> None:
    """Have ``connect`` return the engine of all clusters of a kind."""
    monkeypatch.setattr(KINDS[kind], "connect", connect)
