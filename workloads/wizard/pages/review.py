"""List all answers of a draft in the order of the pages, to check them before it is submitted."""

from collections.abc import Iterator
from dataclasses import dataclass

from workloads.wizard.choices import policies
from workloads.wizard.pages.screen import Screen
from workloads.wizard.pages.steps import page_address
from workloads.wizard.sections import table
from workloads.wizard.sections.base import MASTER, SETUP, WORKERS
from workloads.wizard.sections.roles import ROLES

Fact = tuple[str, str, str]  # name, value, where it came from


@dataclass(frozen=True)
class ReviewPage:
    """One page of the wizard in the review."""

    title: str
    address: str
    facts: list[Fact]


def review_pages(screen: Screen) -> list[ReviewPage]:
    """Return the pages to review: none while no project is chosen, and only the setup page while
    the draft is not a valid spec. The summary then says what is missing."""
    if not screen.plan.project:
        return []
    pages = [_review_page(screen, SETUP, "Setup", "")]
    if spec := screen.plan.spec:
        pages.append(_review_page(screen, WORKERS, screen.workers_label, "worker"))
        if spec.master:
            pages.append(_review_page(screen, MASTER, "Master", "master"))
    return pages


def _review_page(screen: Screen, page: int, title: str, role: str) -> ReviewPage:
    return ReviewPage(title, page_address(screen.draft, page), list(_facts(screen, role)))


def _facts(screen: Screen, role: str) -> Iterator[Fact]:
    has_roles = screen.content.has_roles
    for section in [ROLES] if has_roles and role else table.SECTIONS:
        if bool(role) == (section.page != SETUP):
            for name, value, key in section.review(screen.plan, role):
                yield name, value, _origin_text(screen.plan.origins.get(key, ""))
    yield from _filled_by_policies(screen, role)


def _filled_by_policies(screen: Screen, role: str) -> Iterator[Fact]:
    """Yield the fields that policies filled in or added to, a line for each policy."""
    plan = screen.plan
    labels: dict[str, list[str]] = {}
    roles = {role, ""} if role == "worker" else {role}
    for question in table.questions().values() if role else ():
        if question.role not in roles or question.alias:
            continue
        for name in sorted(policies.sources_of(question, plan)):
            labels.setdefault(name, []).append(question.label)
    for source, names in labels.items():
        yield "Filled in", ", ".join(names), f"by {source}"


def _origin_text(origin: str) -> str:
    return "" if origin in {"", "user"} else f"from {origin}"
