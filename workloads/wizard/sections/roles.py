"""Section: the named roles of a gang, which the page lists and a YAML text describes."""

from collections.abc import Iterator

from django.http import QueryDict

from accounts.models import User
from assets.compute import card
from core.forms.field import Input
from spec.draft import WorkloadDraft
from spec.workload import GangRole
from workloads.plan import Plan
from workloads.wizard.sections.base import Question, ReviewLine, Section, reviewed_spec


class RolesQuestion(Question):
    """The roles as a whole. Only a draft that was read with some is asked for them."""

    def is_for(self, draft: WorkloadDraft) -> bool:
        return draft.has_roles

    def write_answer(self, draft: WorkloadDraft, posted: QueryDict, by: User) -> None:
        """Leave the roles as they are: the page has no inputs for them."""


def review(plan: Plan, role: str) -> Iterator[ReviewLine]:
    spec = reviewed_spec(plan)
    if role == "worker" and spec.roles:
        for number, named in enumerate(spec.gang_roles):
            yield named.name, _describe_role(named), f"roles[{number}]"
        if spec.ignore_non_lead_status:
            yield "Only the lead counts", "yes", "ignoreNonLeadStatus"


def _describe_role(role: GangRole) -> str:
    compute = role.replica.compute
    program = role.replica.command or role.replica.image or ""
    pods = f"{role.count} pod{'s' if role.count > 1 else ''}"
    words = [card.gpu_words(compute), card.cpu_words(compute), card.memory_words(compute)]
    return " · ".join([*(["leads"] if role.leads else []), pods, program, *words])


ROLES = Section(
    "roles",
    "Roles",
    once=(RolesQuestion("roles", "Roles", Input.TEXT),),
    review=review,
)
