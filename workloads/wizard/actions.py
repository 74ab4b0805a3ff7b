"""What the buttons of a wizard page do. Every one stores the answers on the page first."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import reverse
from django_htmx.http import reswap, retarget, trigger_client_event

from accounts.http import Request
from accounts.models import User
from assets.kinds import KINDS, pod_kinds
from assets.template import rulings
from core.forms import nested
from core.forms.field import Input
from core.forms.read import field_items, replace_items
from core.web.http import redirect_after_success
from core.web.query import parse_number
from spec.draft import WorkloadDraft
from spec.problems.errors import Problem, SpecError
from spec.values.variable import MASK
from workloads import services
from workloads.models import Draft
from workloads.plan import plan
from workloads.wizard import drafts, repairs
from workloads.wizard.choices import new_assets, rules
from workloads.wizard.locations import locate_problem
from workloads.wizard.pages import problems
from workloads.wizard.pages.page import render_page
from workloads.wizard.sections.base import MASTER, ROLES, SETUP, Question
from workloads.wizard.sections.table import questions, questions_on

Rows = list[Any]
Action = Callable[[Request, Draft, int, str], HttpResponse]


def act(request: Request, draft: Draft, page: int) -> HttpResponse:
    """Store the posted answers in the draft, then do what ``action`` says: a verb alone, or a verb
    and what it acts on, such as ``add:worker-labels``."""
    action = request.POST.get("action", "")
    verb, _, about = action.partition(":")
    typing = "typing" in request.POST or (verb not in VERBS_THAT_LEAVE and action != "")
    chooses = request.htmx and _is_choosing_asset(request, page)
    before = draft.content if chooses else None
    posted: QueryDict = request.POST
    if verb == EMPTY:
        posted = posted.copy()
        posted[about] = ""
    try:
        drafts.write(draft, posted, by=request.user, touch=not typing)
    except drafts.DraftOvertaken:
        return _respond_overtaken(request, draft, page)
    if not action and not request.htmx:
        verb = "save"
    if verb not in VERBS:
        raise Http404("No such action")
    if before and _has_discarded_values(before, draft.content):
        whole = render_page(request, draft, page, whole=True)
        return retarget(reswap(whole, "outerHTML"), "#wizard-page")
    return VERBS[verb](request, draft, page, about)


def _is_choosing_asset(request: Request, page: int) -> bool:
    return any(f"{ROLES.get(page)}-{kind.slug}" in request.POST for kind in pod_kinds())


def _has_discarded_values(before: WorkloadDraft, after: WorkloadDraft) -> bool:
    """Whether choosing an asset discarded an entered value that the page still shows."""
    return any(
        old.assets != new.assets and not old.values.keys() <= new.values.keys()
        for role, new in after.replicas.items()
        if (old := before.replicas.get(role))
    )


def _respond_overtaken(request: Request, draft: Draft, page: int) -> HttpResponse:
    """Answer a page that shows an outdated draft: say so, and show the draft as it is now."""
    if request.htmx:
        return trigger_client_event(HttpResponse(status=409), "draft-overtaken")
    draft.refresh_from_db()
    return render_page(request, draft, page, status=409, overtaken=True)


def _show_again(request: Request, draft: Draft, page: int, about: str) -> HttpResponse:
    return render_page(request, draft, page)


def _save(request: Request, draft: Draft, page: int, about: str) -> HttpResponse:
    messages.success(request, "The draft was saved.")
    return redirect("draft-step", draft.pk, page)


def _continue(request: Request, draft: Draft, page: int, about: str) -> HttpResponse:
    """Open the next page; if something on this one is wrong, show it with its problems instead."""
    if page == MASTER:
        return render_page(request, draft, page)
    drafts.record_progress(draft, page, leave={item.name for item in questions_on(page)})
    planned = plan(draft.content, by=request.user)
    if any(item.page == page for item, _ in problems.locate_problems(planned)):
        return render_page(request, draft, page, planned=planned, status=422, focus="problem")
    return redirect("draft-step", draft.pk, page + 1)


def _go_back(request: Request, draft: Draft, page: int, about: str) -> HttpResponse:
    return redirect("draft-step", draft.pk, max(page - 1, SETUP))


def _go_to_page(request: Request, draft: Draft, page: int, about: str) -> HttpResponse:
    return redirect("draft-step", draft.pk, int(about) if about in {"1", "2", "3"} else page)


def _open_yaml(request: Request, draft: Draft, page: int, about: str) -> HttpResponse:
    return redirect("draft-yaml", draft.pk)


def _create(request: Request, draft: Draft, page: int, about: str) -> HttpResponse:
    """Submit the draft, or show the first page that has problems, preferably this one."""
    drafts.record_progress(draft, page, leave=set(questions()))
    planned = plan(draft.content, by=request.user)
    pages = {item.page for item, _ in problems.locate_problems(planned)}
    if pages:
        worst = page if page in pages else min(pages)
        return render_page(request, draft, worst, planned=planned, status=422, focus="problem")
    try:
        workload = services.submit(
            planned.draft,
            by=request.user,
            draft_id=draft.pk,
            copied_from=draft.copied_from,
            planned=planned,
        )
    except SpecError as error:
        return _respond_refused(request, draft, error)
    messages.success(request, f"{workload.name} was created.")
    return redirect_after_success(request, reverse("workload-list"))


def _respond_refused(request: Request, draft: Draft, error: SpecError) -> HttpResponse:
    """Show a problem that only submitting revealed, such as a name that was taken a moment ago."""
    problem: Problem = error.problems[0]
    messages.error(request, problems.problem_sentence(locate_problem(problem), problem))
    return render_page(request, draft, locate_problem(problem).page, status=422, focus="problem")


def _add(request: Request, draft: Draft, page: int, about: str) -> HttpResponse:
    """Append an empty row; after ``=NAME`` one that replaces the asset's row of that name, after
    ``=ID`` one that chooses the asset just created."""
    name, _, given = about.partition("=")
    item = _find_list(name)
    value = request.POST.get(f"inherited-{given}", "")
    row: Any = {"name": given, "value": "" if value == MASK else value}
    if item.input is Input.ITEMS:
        row = _new_item(draft, item, given, by=request.user)
    return _change_list(
        request, draft, page, item, lambda rows: rows if item.single and rows else [*rows, row]
    )


def _new_item(draft: Draft, item: Question, name: str, *, by: User) -> Any:
    """The asset's item of this ``name`` if it has one, else a new item as the list begins it."""
    planned = plan(draft.content, by=by)
    for (role, slug), asset in planned.assets.items() if name else ():
        brought = nested.items(KINDS[slug].layer(asset), item.key) if role == item.role else []
        for row in brought:
            if row.get("name") == name:
                return row
    if name and item.creates:
        return {"id": name}
    return item.new_item(planned.cluster) if item.new_item else item.blank_item


def _remove(request: Request, draft: Draft, page: int, about: str) -> HttpResponse:
    """``remove:worker-labels:2`` removes the third row."""
    name, _, number = about.rpartition(":")

    def kept(rows: Rows) -> Rows:
        return [row for at, row in enumerate(rows) if str(at) != number]

    return _change_list(request, draft, page, _find_list(name), kept)


def _move_down(request: Request, draft: Draft, page: int, about: str) -> HttpResponse:
    """``down:nodePools:0`` moves the first row below the second."""
    name, _, number = about.rpartition(":")
    return _move_up(request, draft, page, f"{name}:{(parse_number(number) or 0) + 1}")


def _sort(request: Request, draft: Draft, page: int, about: str) -> HttpResponse:
    """``sort:nodePools:2,0,1`` puts the rows in the order they were dragged to."""
    name, _, order = about.rpartition(":")
    wanted = [parse_number(part) for part in order.split(",")]

    def sorted_rows(rows: Rows) -> Rows:
        if sorted(wanted, key=lambda at: -1 if at is None else at) != list(range(len(rows))):
            return rows  # one was added or removed meanwhile
        return [rows[at] for at in wanted if at is not None]

    return _change_list(request, draft, page, _find_list(name), sorted_rows)


def _reset(request: Request, draft: Draft, page: int, about: str) -> HttpResponse:
    """``reset:worker-image`` goes back to the value of the template, the asset or the project."""
    question = questions().get(about)
    if question is None:
        raise Http404("No such field")
    planned = plan(draft.content, by=request.user)
    field = rules.rule_path(question)
    template = planned.template if field in planned.rulings else None
    has_own = question.project_default if question.is_list else question.input is not Input.CARDS
    if not (has_own or template):
        raise Http404("Nothing to go back to")

    def change(content: WorkloadDraft) -> set[str]:
        if template:
            rulings.apply_template_value(content, template, field)
        else:
            nested.put(question.values_in(content) or {}, question.key, None)
        return {question.name}

    drafts.edit(draft, change, touch=False)
    return render_page(request, draft, page, focus=question.name if question.is_list else "")


def _move_up(request: Request, draft: Draft, page: int, about: str) -> HttpResponse:
    """``up:nodePools:2`` moves the third row above the second."""
    name, _, number = about.rpartition(":")

    def moved(rows: Rows) -> Rows:
        at = parse_number(number) or 0
        if 0 < at < len(rows):
            rows = [*rows[: at - 1], rows[at], rows[at - 1], *rows[at + 1 :]]
        return rows

    return _change_list(request, draft, page, _find_list(name), moved)


def _show_with_focus(request: Request, draft: Draft, page: int, about: str) -> HttpResponse:
    """``another:worker-connections-0-who`` adds an input for a name and puts the cursor in it.
    ``empty:worker-connections-0-who-2`` removes that name; the cursor goes to the add button."""
    return render_page(request, draft, page, focus=about)


def _repair(request: Request, draft: Draft, page: int, about: str) -> HttpResponse:
    """``repair:shape=2x4`` applies a repair from the summary; an outdated one changes nothing."""
    repairs.apply_to_draft(draft, about, by=request.user)
    return render_page(request, draft, page, focus="summary")


def _change_list(
    request: Request, draft: Draft, page: int, item: Question, how: Callable[[Rows], Rows]
) -> HttpResponse:
    def change(content: WorkloadDraft) -> set[str]:
        values = item.values_in(content)
        if values is None:
            raise Http404("The master has no setup of its own")
        replace_items(values, item, how(field_items(values, item)))
        return {item.name}

    drafts.edit(draft, change, touch=False)
    return render_page(request, draft, page, focus=item.name)


def _find_list(name: str) -> Question:
    item = questions().get(name)
    if item is None or not item.is_list:
        raise Http404("No such list")
    return item


def _open_creation_page(request: Request, draft: Draft, page: int, about: str) -> HttpResponse:
    slug, _, slot = about.partition(":")
    return redirect(new_assets.creation_page(draft, page, slug, slot))


#: Verbs after which all fields of the page count as left, so that they show their problems.
VERBS_THAT_LEAVE = {"", "continue", "create"}
EMPTY = "empty"
VERBS: dict[str, Action] = {
    "": _show_again,
    "all": _show_again,
    "search": _show_again,
    "save": _save,
    "continue": _continue,
    "back": _go_back,
    "goto": _go_to_page,
    "yaml": _open_yaml,
    "create": _create,
    "add": _add,
    "another": _show_with_focus,
    EMPTY: _show_with_focus,
    "remove": _remove,
    "down": _move_down,
    "sort": _sort,
    "reset": _reset,
    "up": _move_up,
    "new": _open_creation_page,
    "repair": _repair,
}
