"""Create an asset or a project from within the wizard. Its own page leads back to the draft, which
then chooses it."""

from functools import partial
from urllib.parse import urlencode

from django.http import Http404, QueryDict
from django.urls import reverse

from accounts.http import Request
from assets.kinds import KINDS, pod_kinds
from core.forms.read import field_items, replace_items
from core.web.query import parse_number, parse_uuid
from projects.models import Project
from spec.draft import WorkloadDraft
from workloads.models import Draft
from workloads.wizard import drafts
from workloads.wizard.sections.base import SETUP, Question
from workloads.wizard.sections.table import questions


def creation_page(draft: Draft, page: int, slug: str, slot: str) -> str:
    """Return the address of the page that creates an asset of the kind ``slug``, or a project, and
    then returns to ``page`` of the draft. ``slot`` is the role that needs the asset, such as
    ``worker``. Raises ``Http404`` for a kind that has no such page."""
    next_address = reverse("draft-step", args=[draft.pk, page])
    if slug == "project":
        query = urlencode({"cluster": draft.content.cluster or "", "next": next_address})
        return f"{reverse('project-create')}?{query}"
    kind = KINDS.get(slug)
    if kind is None or not kind.has_form:
        raise Http404("No such asset")
    query = urlencode({"project": draft.content.project or "", "slot": slot, "next": next_address})
    return f"{kind.address('create')}?{query}"


def choose_created(request: Request, draft: Draft, page: int) -> bool:
    """Choose the asset or project that was just created, and return whether there was one. The page
    that creates it returns with ``?environment=<id>&slot=worker`` or ``?project=<id>``."""
    slot = request.GET.get("slot", "")
    posted = QueryDict(mutable=True)
    for kind in pod_kinds():
        chosen = request.GET.get(kind.slug, "")
        if parse_uuid(chosen) and f"{slot}-{kind.slug}" in questions():
            posted[f"{slot}-{kind.slug}"] = chosen
    if project := _created_project(request) if page == SETUP else None:
        posted["cluster"] = str(project.cluster_id)
        posted["project"] = str(project.pk)
    if posted:
        drafts.write(draft, posted, by=request.user)
    was_added = _add_to_list(request, draft, slot)
    return bool(posted) or was_added


def _add_to_list(request: Request, draft: Draft, slot: str) -> bool:
    for question in questions().values():
        asset = request.GET.get(question.creates, "") if question.role == slot else ""
        if question.creates and parse_uuid(asset):
            change = partial(_append_item, question=question, asset=asset)
            drafts.edit(draft, change, touch=False)
            return True
    return False


def _append_item(content: WorkloadDraft, question: Question, asset: str) -> set[str]:
    """Add the asset to the list, unless the list has it already: the page may be loaded twice."""
    values = question.values_in(content)
    if values is None:
        return set()
    items = field_items(values, question)
    if asset not in {item.get("id") for item in items if isinstance(item, dict)}:
        replace_items(values, question, [*items, {"id": asset}])
    return {question.name}


def _created_project(request: Request) -> Project | None:
    pk = parse_number(request.GET.get("project", ""))
    return Project.objects.visible_to(request.user).filter(pk=pk).first() if pk else None
