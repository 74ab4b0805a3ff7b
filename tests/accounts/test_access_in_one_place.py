"""Nobody but ``accounts.access`` asks who somebody is; all others ask what they may do."""

import re

import pytest

from config.run.install import ROOT
from tests.repository import tracked

#: Where a role is given to a person, which is not asking for it.
GIVE = {
    "accounts/access.py",
    "accounts/permissions.py",  # the table of them
    "accounts/rules.py",  # the first administrator
    "accounts/migrations/0001_initial.py",  # the column of old
    "accounts/migrations/0003_administrators.py",
    "projects/members.py",  # the role of a project's members
    "projects/forms.py",  # the role that the form of an access rule proposes
    "bench/access.py",  # the people of the benchmark
    "bench/fill.py",  # an administrator of Django's admin, the peer of the table
}
ASKS = {
    "a flag of a person": r"\bis_(administrator|superuser|staff)\b",
    "a role's name": r"""["'](administrator|researcher)["']""",
    "a role": r"\b(permissions\.|import .*\b)(ADMINISTRATOR|RESEARCHER)\b",
    "a person's role": r"\b(user|by|person|owner|created_by)\.role\b(?!,)",
}


def asks(text: str) -> list[str]:
    return [what for what, pattern in ASKS.items() if re.search(pattern, text)]


def test_only_the_access_module_asks_for_a_role() -> None:
    sources = [
        path
        for path in tracked("*.py", "*.html")
        if path.parts[0] != "tests" and str(path) not in GIVE
    ]
    assert sources
    found = {str(path): asks((ROOT / path).read_text()) for path in sources}
    assert not {path: what for path, what in found.items() if what}


@pytest.mark.parametrize(
    "text",
    [
        "if by.is_administrator:",
        "{% if user.is_administrator %}",
        'if user.role == "administrator":',
        "from accounts.permissions import ADMINISTRATOR",
        "return by.role in allowed",
    ],
)
def test_a_question_for_a_role_would_be_noticed(text: str) -> None:
    assert asks(text)
