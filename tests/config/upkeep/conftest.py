from collections.abc import Callable
from pathlib import Path

import pytest
from pytest_django import Settings

from tests.config.upkeep.places import Place


@pytest.fixture
def place(
    tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str], Place]:
    """A function that creates an installation with this name, and makes it the one that commands
    work in."""
    monkeypatch.delenv("TRAINYARD_SECRET_KEY", raising=False)
    return lambda name: Place(tmp_path / name, settings, monkeypatch).entered()
