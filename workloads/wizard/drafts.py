"""Begin drafts, list unfinished ones, and change them."""

from collections.abc import Callable, Iterable
from collections.abc import Set as AbstractSet

from django.db import transaction
from django.http import QueryDict

from accounts.models import User
from assets.models import DataSource, Template
from clusters.models import Cluster
from core.web.query import parse_number, parse_uuids
from projects.models import Project
from spec.draft import WorkloadDraft
from spec.kind import WorkloadKind, kinds_of_wizard
from workloads.models import Draft, Workload
from workloads.wizard.capture import capture
from workloads.wizard.sections.setup import start_from_template
from workloads.wizard.sections.storage import DATA_SOURCES

LONGEST_TAB = 36
MOST_TABS = 8  # open pages of one draft whose last change is remembered
MOST_OFFERED = 5  # unfinished drafts offered to a user
#: Fields that may have a value before the author enters anything, with their blank values. They
#: come from the last workload, or from the request that began the draft.
INITIAL_VALUES = {
    "cluster": None,
    "project": None,
    "kind": WorkloadDraft().kind,
    "framework": WorkloadDraft().framework,
    "architecture": WorkloadDraft().architecture,
    "rules": None,
}


class DraftOvertaken(Exception):
    """Another page has changed the draft since the posting page was shown. Nothing was stored."""


def unfinished_drafts(user: User) -> list[Draft]:
    """Return the user's latest drafts that are worth resuming: something was entered, or they began
    as a copy."""
    latest = Draft.objects.visible_to(user).select_related("edits")[: MOST_OFFERED + 1]
    return [draft for draft in latest if not is_pristine(draft)][:MOST_OFFERED]


def is_pristine(draft: Draft) -> bool:
    """Return whether the draft contains nothing but what it began with."""
    if draft.touched or draft.copied_from_id:
        return False
    return draft.content.model_copy(update=INITIAL_VALUES) == blank_content()


def blank_content() -> WorkloadDraft:
    """Return the content of an empty draft. Whatever has a default is left to it, so that policies
    can fill it in."""
    return WorkloadDraft()


def begin(
    user: User,
    *,
    template: str = "",
    project: str = "",
    kind: str = "",
    data_source: str = "",
    version: str = "",
    edits: bool = False,
    rules: bool = False,
) -> Draft:
    """Begin a draft, or reuse the user's newest if nothing was entered into it yet.

    Without ``kind`` and ``template`` it is of the same kind as the user's last training.
    ``template``, ``project``, ``kind`` and ``data_source`` come from a URL, so that unknown ones
    are ignored. With ``edits`` the draft changes the template, if the user may. With ``rules`` it
    will be a template, which can have rules for its fields.
    """
    newest = Draft.objects.visible_to(user).first()
    draft = newest if newest and is_pristine(newest) else Draft(owner=user)
    content = blank_content()
    content.rules = () if rules else None
    if kind in set(WorkloadKind):
        content.kind = kind
    elif not template:
        latest_training = _latest_workload(user, kinds_of_wizard(content.traits.noun))
        if latest_training:
            _copy_kind(content, latest_training)
    _choose_project(content, user, project, _latest_workload(user))
    base = _find_template(user, template)
    if base:
        start_from_template(content, base.pk, by=user)
        draft.template = base
    source = DataSource.objects.visible_to(user).filter(pk__in=parse_uuids([data_source])).first()
    if source:
        chosen = {"id": str(source.pk), "path": "", "version": version}
        listed = content.worker.values.get(DATA_SOURCES.key) or []
        content.worker.values[DATA_SOURCES.key] = [*listed, chosen]
    draft.edits = _find_editable_template(user, draft.template) if edits else None
    if draft.edits:
        content.rules = draft.edits.draft.rules or ()
    before = draft.document
    draft.content = content
    draft.step = 1
    if draft.document != before:
        # A page that still shows the reused draft learns that it is outdated.
        draft.version = draft.version + 1
        draft.writer = ""
    draft.save()
    return draft


def _copy_kind(content: WorkloadDraft, latest: Workload) -> None:
    content.kind = latest.kind
    if content.is_gang:  # a single pod has neither of these
        content.framework = latest.framework
        content.architecture = latest.architecture


def _latest_workload(user: User, kinds: Iterable[WorkloadKind] = WorkloadKind) -> Workload | None:
    """Return the last workload of these kinds that the user submitted and still sees."""
    own_workloads = Workload.objects.visible_to(user).filter(created_by=user, kind__in=list(kinds))
    return own_workloads.order_by("-created_at").first()


def _choose_project(
    content: WorkloadDraft, user: User, project: str, latest: Workload | None
) -> None:
    """Set project and cluster: to the requested project, else to the user's only project, else to
    the one used last. Without any of these, set only the cluster, if there is just one."""
    projects = Project.objects.visible_to(user).for_list()
    requested = parse_number(project)
    if requested is not None:
        projects = projects.filter(pk=requested)
    candidates = list(projects[:2])
    if len(candidates) > 1 and latest:
        candidates = list(projects.filter(pk=latest.project_id))
    if len(candidates) == 1:
        content.project = candidates[0].pk
        content.cluster = candidates[0].cluster_id
        return
    clusters = list(Cluster.objects.visible_to(user)[:2])
    if len(clusters) == 1:
        content.cluster = clusters[0].pk


def _find_editable_template(user: User, template: Template | None) -> Template | None:
    if template is None:
        return None
    return Template.objects.editable_by(user).filter(pk=template.pk).first()


def _find_template(user: User, template: str) -> Template | None:
    return Template.objects.visible_to(user).filter(pk__in=parse_uuids([template])).first()


def write(draft: Draft, posted: QueryDict, *, by: User, touch: bool = True) -> set[str]:
    """Store the posted answers and return the names of the questions they belong to. ``touch`` says
    that the author has left these fields.

    A page identifies itself by ``tab`` and numbers its requests by ``sent``. A request that arrives
    after a later one of the same page contains older input and is ignored. ``version`` is the
    version of the draft that the page shows. Raises :class:`DraftOvertaken` if another page has
    changed the draft since.
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

    Without a ``tab`` the change counts as made by the page that made the last one. :func:`write`
    explains the other arguments. Raises :class:`DraftOvertaken`.
    """
    with transaction.atomic():
        # The lock makes requests of several pages follow each other, so that none is lost.
        newest = Draft.objects.select_for_update().get(pk=draft.pk)
        if version is not None and newest.is_overtaken(version, tab=tab or ""):
            raise DraftOvertaken
        content = newest.content
        before = newest.document
        fields = change(content)
        if tab and sent < newest.sent.get(tab, 0):
            # A later request of the same page has arrived already: drop this older input.
            content = newest.content
            fields = set()
        elif tab:
            sent_by_tab = {**newest.sent, tab: sent}
            newest.sent = dict(sorted(sent_by_tab.items(), key=lambda item: item[1])[-MOST_TABS:])
        newest.content = content
        if newest.document != before:
            newest.version += 1
            newest.writer = newest.writer if tab is None else tab
        if touch:
            newest.touched = sorted({*newest.touched, *fields})
        newest.template_id = content.template
        newest.save()
    draft.document = newest.document
    draft.touched = newest.touched
    draft.template_id = newest.template_id
    draft.updated_at = newest.updated_at
    draft.version = newest.version
    return fields


def record_progress(
    draft: Draft, step: int, *, left_questions: AbstractSet[str] = frozenset()
) -> None:
    """Record the furthest page that the author reached, and the fields they left on the way."""
    touched = sorted({*draft.touched, *left_questions})
    furthest = max(step, draft.step)
    if (furthest, touched) != (draft.step, draft.touched):
        draft.step = furthest
        draft.touched = touched
        draft.save(update_fields=["step", "touched", "updated_at"])


def find_copy_source(user: User, workload: str) -> Workload | None:
    """Return the workload with this id, if the user sees it; else ``None``."""
    return Workload.objects.visible_to(user).filter(pk__in=parse_uuids([workload])).first()
