"""Drafts from their beginning until they are submitted: begin one, list unfinished ones, change
them."""

from collections.abc import Callable, Iterable
from collections.abc import Set as AbstractSet

from django.db import transaction
from django.http import QueryDict

from accounts.models import User
from assets.models import Template
from clusters.models import Cluster
from core.web.query import parse_number, parse_uuids
from projects.models import Project
from spec.draft import WorkloadDraft
from spec.kind import WorkloadKind, kinds_of
from workloads.models import Draft, Workload
from workloads.wizard.capture import capture
from workloads.wizard.sections.setup import start_from_template

LONGEST_TAB = 36
MOST_TABS = 8  # open pages of one draft whose last change is remembered
MOST_OFFERED = 5  # unfinished drafts offered to a user
#: Fields that may be filled in before the author enters anything, with their blank values. They
#: come from the last workload or from the request that began the draft.
INITIAL_VALUES = {
    "cluster": None,
    "project": None,
    "kind": WorkloadDraft().kind,
    "framework": WorkloadDraft().framework,
    "architecture": WorkloadDraft().architecture,
    "rules": None,
}


class DraftOvertaken(Exception):
    """The draft was changed from another page since the posting page was shown. Nothing was
    stored."""


def unfinished_drafts(user: User) -> list[Draft]:
    """The user's latest drafts that are worth resuming, because something was entered or they began
    as a copy."""
    latest = Draft.objects.visible_to(user).select_related("edits")[: MOST_OFFERED + 1]
    return [draft for draft in latest if not is_pristine(draft)][:MOST_OFFERED]


def is_pristine(draft: Draft) -> bool:
    """Whether nothing was entered into the draft yet, apart from what it began with."""
    if draft.touched or draft.copied_from_id:
        return False
    return draft.content.model_copy(update=INITIAL_VALUES) == blank_content()


def blank_content() -> WorkloadDraft:
    """The content of an empty draft: a training with one worker."""
    return WorkloadDraft(values={"numWorkers": 1})


def begin(
    user: User,
    *,
    template: str = "",
    project: str = "",
    kind: str = "",
    edits: bool = False,
    rules: bool = False,
) -> Draft:
    """Begin a draft, or reuse the user's newest if nothing was entered into it yet.

    Without ``kind`` and ``template`` it is of the same kind as the user's last training.
    ``template``, ``project`` and ``kind`` come from a URL, so that unknown ones are ignored. With
    ``edits`` the draft changes the template, if the user may. With ``rules`` it will be a template,
    which can have rules for its fields.
    """
    newest = Draft.objects.visible_to(user).first()
    draft = newest if newest and is_pristine(newest) else Draft(owner=user)
    content = blank_content()
    content.rules = () if rules else None
    if kind in set(WorkloadKind):
        content.kind = kind
    elif not template and (alike := _latest_workload(user, kinds_of(content.traits.noun))):
        _copy_kind(content, alike)
    _choose_project(content, user, project, _latest_workload(user))
    if chosen := _find_template(user, template):
        start_from_template(content, chosen.pk, by=user)
        draft.template = chosen
    draft.edits = _find_editable_template(user, draft.template) if edits else None
    if draft.edits:
        content.rules = draft.edits.draft.rules or ()
    before = draft.document
    draft.content = content
    draft.step = 1
    if draft.document != before:
        draft.version = draft.version + 1
        draft.writer = ""
    draft.save()
    return draft


def _copy_kind(content: WorkloadDraft, latest: Workload) -> None:
    content.kind = latest.kind
    if content.is_gang:  # one pod has neither
        content.framework = latest.framework
        content.architecture = latest.architecture


def _latest_workload(user: User, kinds: Iterable[WorkloadKind] = WorkloadKind) -> Workload | None:
    """The last workload of these kinds that the user submitted and still sees."""
    theirs = Workload.objects.visible_to(user).filter(created_by=user, kind__in=list(kinds))
    return theirs.order_by("-created_at").first()


def _choose_project(
    content: WorkloadDraft, user: User, project: str, latest: Workload | None
) -> None:
    """Set project and cluster: to the project asked for, else the only one there is, else the one
    used last. Without any of these, only the cluster is set, if there is just one."""
    projects = Project.objects.visible_to(user).for_list()
    if (asked := parse_number(project)) is not None:
        projects = projects.filter(pk=asked)
    candidates = list(projects[:2])
    if len(candidates) > 1 and latest:
        candidates = list(projects.filter(pk=latest.project_id))
    if len(candidates) == 1:
        content.project = candidates[0].pk
        content.cluster = candidates[0].cluster_id
        return
    only = list(Cluster.objects.visible_to(user)[:2])
    if len(only) == 1:
        content.cluster = only[0].pk


def _find_editable_template(user: User, template: Template | None) -> Template | None:
    return Template.objects.editable_by(user).filter(pk=template.pk).first() if template else None


def _find_template(user: User, template: str) -> Template | None:
    return Template.objects.visible_to(user).filter(pk__in=parse_uuids([template])).first()


def write(draft: Draft, posted: QueryDict, *, by: User, touch: bool = True) -> set[str]:
    """Store the posted answers and return the names of the questions they belong to. ``touch`` says
    that the author has left these fields.

    A page identifies itself by ``tab`` and numbers its requests by ``sent``. If a request arrives
    after a later one of the same page, it contains older input and is ignored. ``version`` is the
    state of the draft that the page shows; raises :class:`Overtaken` if another page has changed it
    since.
    """

    def change(content: WorkloadDraft) -> set[str]:
        return capture(content, posted, by=by)

    tab = posted.get("tab", "")[:LONGEST_TAB]
    sent = parse_number(posted.get("sent", ""))
    version = parse_number(posted.get("version", ""))
    return edit(draft, change, touch=touch, tab=tab, sent=sent or 0, version=version)


def edit(
    draft: Draft,
    change: Callable[[WorkloadDraft], set[str]],
    *,
    touch: bool,
    tab: str | None = None,
    sent: int = 0,
    version: int | None = None,
) -> set[str]:
    """Apply ``change`` to the draft's newest state, under a lock. ``change`` returns the names of
    the questions it answered, and so does this function.

    Without a ``tab`` the change counts as made by the page that made the last one. The other
    arguments are explained at :func:`write`. ``Overtaken``.
    """
    with transaction.atomic():
        now = Draft.objects.select_for_update().get(pk=draft.pk)
        if version is not None and now.is_overtaken(version, tab=tab or ""):
            raise DraftOvertaken
        content = now.content
        before = now.document
        fields = change(content)
        if tab and sent < now.sent.get(tab, 0):
            content = now.content
            fields = set()
        elif tab:
            times = {**now.sent, tab: sent}
            now.sent = dict(sorted(times.items(), key=lambda item: item[1])[-MOST_TABS:])
        now.content = content
        if now.document != before:
            now.version += 1
            now.writer = now.writer if tab is None else tab
        if touch:
            now.touched = sorted({*now.touched, *fields})
        now.template_id = content.template
        now.save()
    draft.document = now.document
    draft.touched = now.touched
    draft.template_id = now.template_id
    draft.updated_at = now.updated_at
    draft.version = now.version
    return fields


def record_progress(draft: Draft, step: int, *, leave: AbstractSet[str] = frozenset()) -> None:
    """Record the furthest page that the author reached, and the fields they left on the way."""
    touched = sorted({*draft.touched, *leave})
    furthest = max(step, draft.step)
    if (furthest, touched) != (draft.step, draft.touched):
        draft.step = furthest
        draft.touched = touched
        draft.save(update_fields=["step", "touched", "updated_at"])


def find_copy_source(user: User, workload: str) -> Workload | None:
    """The workload with this id, if the user sees it; else ``None``."""
    return Workload.objects.visible_to(user).filter(pk__in=parse_uuids([workload])).first()
