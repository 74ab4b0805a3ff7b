"""Rows of a form that are there where no script adds them."""

import pytest

from tests.factories import UserFactory
from tests.web import signed_in

pytestmark = pytest.mark.django_db


def test_rows_for_browsers_without_scripts_are_complete() -> None:
    """One noscript in another would end at the end of the inner one."""
    page = signed_in(UserFactory(administrator=True)).get("/environments/new/").content.decode()
    parts = page.split("<noscript>")[1:]
    assert any("tools-0-who-2" in part for part in parts)
    assert all("</noscript>" in part for part in parts)
