"""Tokens in files, which somebody renews before they end."""

from pathlib import Path

import pytest
from kubernetes.client import Configuration

from engines.kubernetes.connecting import TokenFile


def token(settings: Configuration) -> str:
    return str(settings.api_key.get("BearerToken", ""))


def test_a_file_that_is_renewed_is_read_again(tmp_path: Path) -> None:
    path, settings = tmp_path / "token", Configuration()
    path.write_text("first\n")
    renew = TokenFile(path)
    renew(settings)
    assert token(settings) == "Bearer first"
    fresh = tmp_path / "fresh"
    fresh.write_text("other\n")
    fresh.replace(path)  # of the same length, and perhaps the same instant
    renew(settings)
    assert token(settings) == "Bearer other"


@pytest.mark.parametrize("content", [None, ""])
def test_a_file_that_is_away_or_empty_leaves_the_token(tmp_path: Path, content: str | None) -> None:
    path, settings = tmp_path / "token", Configuration()
    path.write_text("first")
    renew = TokenFile(path)
    renew(settings)
    path.unlink()
    if content is not None:
        path.write_text(content)
    renew(settings)
    assert token(settings) == "Bearer first"
