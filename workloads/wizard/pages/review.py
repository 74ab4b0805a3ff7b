"""List all answers of a draft in the order of the pages, to check them before it is submitted."""

from collections.abc import Iterator
from dataclasses import dataclass

from workloads.wizard.pages.screen import Screen
from workloads.wizard.pages.steps import page_address
from workloads.wizard.sections import table
from workloads.wizard.sections.base import MASTER, SETUP, WORKERS

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
    for section in table.SECTIONS:
        if bool(role) == (section.page != SETUP):
            for name, value, key in section.review(screen.plan, role):
                yield name, value, _origin_text(screen.plan.origins.get(key, ""))


def _origin_text(origin: str) -> str:
    return "" if origin in {"", "user"} else f"from {origin}"
