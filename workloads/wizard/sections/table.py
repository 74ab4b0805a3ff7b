"""The sections of the wizard in the order of its pages, and their questions."""

from functools import cache

from assets.kinds import KINDS
from workloads.wizard.sections.base import PAGES, Question, Section
from workloads.wizard.sections.container.command import COMMAND
from workloads.wizard.sections.container.environment import ENVIRONMENT
from workloads.wizard.sections.container.readiness import READINESS
from workloads.wizard.sections.container.runtime import RUNTIME
from workloads.wizard.sections.container.tools import TOOLS
from workloads.wizard.sections.general import GENERAL
from workloads.wizard.sections.resources.compute import COMPUTE
from workloads.wizard.sections.resources.requests import REQUESTS
from workloads.wizard.sections.resources.size import PROCESSES, SIZE
from workloads.wizard.sections.roles import ROLES
from workloads.wizard.sections.scheduling import SCHEDULING
from workloads.wizard.sections.setup import SETUP
from workloads.wizard.sections.storage import STORAGE

SECTIONS: tuple[Section, ...] = (
    SETUP,
    ENVIRONMENT,
    COMMAND,
    ROLES,
    SIZE,
    PROCESSES,
    COMPUTE,
    REQUESTS,
    TOOLS,
    RUNTIME,
    READINESS,
    STORAGE,
    SCHEDULING,
    GENERAL,
)


def find_section(key: str) -> Section:
    return next(section for section in SECTIONS if section.key == key)


def questions() -> dict[str, Question]:
    """Return all questions in the order of the pages, by the names of their inputs."""
    return _cached_questions(tuple(section.key for section in SECTIONS), tuple(KINDS))


@cache
def _cached_questions(sections: tuple[str, ...], kinds: tuple[str, ...]) -> dict[str, Question]:
    """Cache the questions by keys: comparing sections takes longer than building the questions."""
    asked = (
        it for page in PAGES for key in sections for it in find_section(key).questions_on(page)
    )
    return {question.name: question for question in asked}


def questions_on(page: int) -> list[Question]:
    return [question for question in questions().values() if question.page == page]
