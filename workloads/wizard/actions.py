"""Do what the buttons of a wizard page say. Each of them stores the answers on the page first."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import reverse
from django_htmx.http import reswap, retarget, trigger_client_event

from accounts.http import Request
from accounts.models import User
from assets.kinds import pod_kinds
from assets.template import rulings
from core.forms import nested
from core.forms.field import Input
from core.forms.read import field_items, replace_items
from core.web.http import redirect_after_success
from core.web.query import parse_number
from spec.draft import WorkloadDraft
from spec.formats.merge import exclusion
from spec.problems.errors import Problem, SpecError
from spec.values.variable import MASK
from workloads import services
from workloads.models import Draft
from workloads.plan import Plan, plan
from workloads.wizard import drafts, repairs
from workloads.wizard.choices import new_assets, policies, rules
from workloads.wizard.choices.inherited import inherited_item, name_of_removal
from workloads.wizard.locations import locate_problem
from workloads.wizard.pages import problems
from workloads.wizard.pages.page import render_page
from workloads.wizard.sections.base import MASTER, ROLES, SETUP, Question
from workloads.wizard.sections.table import questions, questions_on

Rows = list[Any]
Action = Callable[[Request, Draft, int, str], HttpResponse]


def act(request: Request, draft: Draft, page: int) -> HttpResponse:
    """Store the posted answers in the draft, then do what ``action`` says. An action is a verb, or
    a verb with its target, such as ``add:worker-labels``."""
    action = request.POST.get("action", "")
    verb, _, target = action.partition(":")
    is_typing = "typing" in request.POST or (verb not in VERBS_THAT_LEAVE and action != "")
    # Only htmx keeps the fields of the page, which may then show a value that was discarded.
    before = draft.content if request.htmx and _is_choosing_asset(request, page) else None
    posted: QueryDict = request.POST
    if verb == EMPTY:
        posted = posted.copy()
        posted[target] = ""
    try:
        drafts.write(draft, posted, by=request.user, touch=not is_typing)
    except drafts.DraftOvertaken:
        return _respond_overtaken(request, draft, page)
    if not action and not request.htmx:
        verb = "save"
    if verb not in VERBS:
        raise Http404("No such action")
    if before and _has_discarded_values(before, draft.content):
        response = render_page(request, draft, page, all_fields=True)
        return retarget(reswap(response, "outerHTML"), "#wizard-page")
    return VERBS[verb](request, draft, page, target)


def _is_choosing_asset(request: Request, page: int) -> bool:
    return any(f"{ROLES.get(page)}-{kind.slug}" in request.POST for kind in pod_kinds())


def _has_discarded_values(before: WorkloadDraft, after: WorkloadDraft) -> bool:
    """Return whether choosing an asset discarded an entered value that the page still shows."""
    for role, new in after.replicas.items():
        old = before.replicas.get(role)
        if old and old.assets != new.assets and old.values.keys() - new.values.keys():
            return True
    return False


def _respond_overtaken(request: Request, draft: Draft, page: int) -> HttpResponse:
    """Tell a page that it shows an outdated draft, and show the current draft."""
    if request.htmx:
        return trigger_client_event(HttpResponse(status=409), "draft-overtaken")
    draft.refresh_from_db()
    return render_page(request, draft, page, status=409, overtaken=True)


def _show_again(request: Request, draft: Draft, page: int, target: str) -> HttpResponse:
    return render_page(request, draft, page)


def _save(request: Request, draft: Draft, page: int, target: str) -> HttpResponse:
    messages.success(request, "The draft was saved.")
    return redirect("draft-step", draft.pk, page)


def _continue(request: Request, draft: Draft, page: int, target: str) -> HttpResponse:
    """Open the next page, or show this page with its problems if it has any."""
    if page == MASTER:
        return render_page(request, draft, page)
    left = {question.name for question in questions_on(page)}
    drafts.record_progress(draft, page, left_questions=left)
    planned = plan(draft.content, by=request.user)
    if page in _pages_with_problems(planned):
        return render_page(request, draft, page, planned=planned, status=422, focus="problem")
    return redirect("draft-step", draft.pk, page + 1)


def _go_back(request: Request, draft: Draft, page: int, target: str) -> HttpResponse:
    return redirect("draft-step", draft.pk, max(page - 1, SETUP))


def _go_to_page(request: Request, draft: Draft, page: int, target: str) -> HttpResponse:
    return redirect("draft-step", draft.pk, int(target) if target in {"1", "2", "3"} else page)


def _open_yaml(request: Request, draft: Draft, page: int, target: str) -> HttpResponse:
    return redirect("draft-yaml", draft.pk)


def _create(request: Request, draft: Draft, page: int, target: str) -> HttpResponse:
    """Submit the draft, or show the first page that has problems, preferably this one."""
    drafts.record_progress(draft, page, left_questions=set(questions()))
    planned = plan(draft.content, by=request.user)
    pages = _pages_with_problems(planned)
    if pages:
        bad_page = page if page in pages else min(pages)
        return render_page(request, draft, bad_page, planned=planned, status=422, focus="problem")
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
    # The table, with the new workload in the drawer beside it.
    address = reverse("workload-list", query={"sel": workload.pk})
    return redirect_after_success(request, address)


def _pages_with_problems(planned: Plan) -> set[int]:
    return {question.page for question, _ in problems.locate_problems(planned)}


def _respond_refused(request: Request, draft: Draft, error: SpecError) -> HttpResponse:
    """Show a problem that only submitting revealed, such as a name that was taken a moment ago."""
    problem: Problem = error.problems[0]
    messages.error(request, problems.problem_sentence(locate_problem(problem), problem))
    return render_page(request, draft, locate_problem(problem).page, status=422, focus="problem")


def _add(request: Request, draft: Draft, page: int, target: str) -> HttpResponse:
    """Append a row to a list: ``add:worker-labels`` an empty one, ``add:worker-labels=NAME`` one
    that replaces the asset's row of that name, and ``=ID`` one that chooses a created asset."""
    list_name, _, name = target.partition("=")
    question = _find_list(list_name)
    value = request.POST.get(f"inherited-{name}", "")
    new_row: Any = {"name": name, "value": "" if value == MASK else value}
    if question.input is Input.ITEMS:
        new_row = _new_item(draft, question, name, by=request.user)

    def append(rows: Rows) -> Rows:
        return rows if question.single and rows else [*rows, new_row]

    return _change_list(request, draft, page, question, append)


def _new_item(draft: Draft, question: Question, name: str, *, by: User) -> Any:
    """Return the item of this ``name`` of an asset or a policy if there is one, else a new item of
    the list."""
    planned = plan(draft.content, by=by)
    if name and (inherited := inherited_item(question, planned, name)):
        return inherited
    if name and question.creates:
        return {"id": name}
    return question.new_item(planned.cluster) if question.new_item else question.blank_item


def _exclude(request: Request, draft: Draft, page: int, target: str) -> HttpResponse:
    """Remove an item that an asset or a policy adds: ``exclude:worker-labels=team``."""
    list_name, _, name = target.partition("=")
    question = _find_list(list_name)
    item = inherited_item(question, plan(draft.content, by=request.user), name)
    if item is None:
        raise Http404("No such item")
    marks = {key: value for key, value in question.mark if value}
    removal = marks | exclusion(question.key, item)
    return _change_removals(request, draft, page, question, lambda items: [*items, removal])


def _restore(request: Request, draft: Draft, page: int, target: str) -> HttpResponse:
    """Take a removal back: ``restore:worker-labels=team``."""
    list_name, _, name = target.partition("=")
    question = _find_list(list_name)

    def restore(items: Rows) -> Rows:
        return [
            item
            for item in items
            if not (question.removes(item) and name_of_removal(question, item) == name)
        ]

    return _change_removals(request, draft, page, question, restore)


def _change_removals(
    request: Request,
    draft: Draft,
    page: int,
    question: Question,
    change_items: Callable[[Rows], Rows],
) -> HttpResponse:
    """Change which inherited items a list removes, and show the list."""

    def change(content: WorkloadDraft) -> set[str]:
        values = question.values_in(content)
        if values is None:
            raise Http404("The master has no setup of its own")
        nested.put(values, question.key, change_items(nested.items(values, question.key)))
        return {question.name}

    drafts.edit(draft, change, touch=False)
    return render_page(request, draft, page, focus=question.name)


def _remove(request: Request, draft: Draft, page: int, target: str) -> HttpResponse:
    """Remove a row: ``remove:worker-labels:2`` removes the third."""
    name, _, number = target.rpartition(":")

    def remove(rows: Rows) -> Rows:
        return [row for index, row in enumerate(rows) if str(index) != number]

    return _change_list(request, draft, page, _find_list(name), remove)


def _move_down(request: Request, draft: Draft, page: int, target: str) -> HttpResponse:
    """Move a row down: ``down:nodePools:0`` moves the first row below the second."""
    name, _, number = target.rpartition(":")
    return _move_up(request, draft, page, f"{name}:{(parse_number(number) or 0) + 1}")


def _sort(request: Request, draft: Draft, page: int, target: str) -> HttpResponse:
    """Put the rows in the order they were dragged to, such as ``sort:nodePools:2,0,1``."""
    name, _, order = target.rpartition(":")
    numbers = [parse_number(part) for part in order.split(",")]
    indexes = [number for number in numbers if number is not None]

    def sort(rows: Rows) -> Rows:
        if len(indexes) < len(numbers) or sorted(indexes) != list(range(len(rows))):
            return rows  # a row was added or removed meanwhile
        return [rows[index] for index in indexes]

    return _change_list(request, draft, page, _find_list(name), sort)


def _reset(request: Request, draft: Draft, page: int, target: str) -> HttpResponse:
    """Go back to the value of the policy, the template, the asset or the project:
    ``reset:worker-image``."""
    question = questions().get(target)
    if question is None:
        raise Http404("No such field")
    planned = plan(draft.content, by=request.user)
    field = rules.rule_path(question)
    template = planned.template if field in planned.rulings else None
    policy_lock = policies.is_locked(question, planned)
    if question.is_list:
        has_default = bool(question.project_default)
    else:
        has_default = question.input is not Input.CARDS
    if not (has_default or template or policy_lock):
        raise Http404("Nothing to go back to")

    def change(content: WorkloadDraft) -> set[str]:
        if policy_lock:
            values = question.values_in(content) or {}
            nested.put(values, question.key, policies.kept_value(question, planned))
        elif template:
            rulings.apply_template_value(content, template, field)
        else:
            nested.put(question.values_in(content) or {}, question.key, None)
        return {question.name}

    drafts.edit(draft, change, touch=False)
    return render_page(request, draft, page, focus=question.name if question.is_list else "")


def _move_up(request: Request, draft: Draft, page: int, target: str) -> HttpResponse:
    """Move a row up: ``up:nodePools:2`` moves the third row above the second."""
    name, _, number = target.rpartition(":")

    def move(rows: Rows) -> Rows:
        index = parse_number(number) or 0
        if 0 < index < len(rows):
            return [*rows[: index - 1], rows[index], rows[index - 1], *rows[index + 1 :]]
        return rows

    return _change_list(request, draft, page, _find_list(name), move)


def _show_with_focus(request: Request, draft: Draft, page: int, target: str) -> HttpResponse:
    """Show the page with the cursor elsewhere. ``another:worker-connections-0-who`` adds an input
    for a name and puts the cursor in it. ``empty:worker-connections-0-who-2`` removes that name;
    the cursor goes to the add button."""
    return render_page(request, draft, page, focus=target)


def _repair(request: Request, draft: Draft, page: int, target: str) -> HttpResponse:
    """Apply a repair from the summary, such as ``repair:shape=2x4``. An outdated repair changes
    nothing."""
    repairs.apply_to_draft(draft, target, by=request.user)
    return render_page(request, draft, page, focus="summary")


def _change_list(
    request: Request,
    draft: Draft,
    page: int,
    question: Question,
    change_rows: Callable[[Rows], Rows],
) -> HttpResponse:
    """Change the rows of a list in the draft's newest state, and show the list."""

    def change(content: WorkloadDraft) -> set[str]:
        values = question.values_in(content)
        if values is None:
            raise Http404("The master has no setup of its own")
        replace_items(values, question, change_rows(field_items(values, question)))
        return {question.name}

    drafts.edit(draft, change, touch=False)
    return render_page(request, draft, page, focus=question.name)


def _find_list(name: str) -> Question:
    question = questions().get(name)
    if question is None or not question.is_list:
        raise Http404("No such list")
    return question


def _open_creation_page(request: Request, draft: Draft, page: int, target: str) -> HttpResponse:
    """Open the page that creates an asset: ``new:environment:worker``."""
    slug, _, slot = target.partition(":")
    return redirect(new_assets.creation_page(draft, page, slug, slot))


#: With these verbs the author leaves the posted fields, so that they show their problems.
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
    "exclude": _exclude,
    "restore": _restore,
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
