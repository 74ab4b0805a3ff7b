"""Show in the form what policies fill in, limit and impose."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from accounts.models import User
from assets.asset import Asset
from assets.base import AssetKind
from assets.compliance import find_violations
from assets.kinds import IMPOSED_KIND
from assets.models import Template
from core.forms import nested
from core.forms.field import Cell, Field, Input, Option, Values
from core.forms.items import ShownItem, show_item
from core.forms.shown import Inherited, ShownField
from core.forms.words import field_sentence
from policies.fields import MASTER, WORKER
from policies.filling import imposed_assets
from policies.rules import Rule
from projects.models import Project
from spec.problems.errors import Problem
from spec.problems.rulings import FieldRuling
from spec.workload import Architecture
from workloads.plan import FindRules, Plan, find_broken_rules
from workloads.wizard.choices.rules import policy_rulings, rule_path
from workloads.wizard.locations import locate_problem
from workloads.wizard.sections.base import Question

NOT_ALLOWED = "not allowed"
NOT_SET = "Not set"
#: What a text can be chosen from if a policy lists its values.
CHOOSABLE = {Input.TEXT, Input.SELECT, Input.AMOUNT}
COMES_FROM_POLICY = "policy "
F = TypeVar("F", Question, Cell)


@dataclass(frozen=True)
class Violation:
    """A rule that an asset breaks: the label of the field, the rule's word, the policy, and what
    is wrong as a sentence."""

    label: str
    rule: str
    source: str
    sentence: str


def find_asset_violations(
    plan: Plan, kind: AssetKind[Any], asset: Asset, role: str
) -> tuple[Violation, ...]:
    """Return the rules that an asset breaks in the pods of a role. A master without a setup of its
    own runs what the workers run."""
    problems = find_violations(kind, asset, plan.policy_rules, role)
    draft = plan.draft
    has_master = draft.is_gang and draft.architecture == Architecture.WORKERS_AND_MASTER
    if role == WORKER and has_master and draft.master is None:
        masters = find_violations(kind, asset, plan.policy_rules, MASTER)
        problems += [it for it in masters if not _is_known(it.message, problems)]
    return describe_violations(problems)


def find_template_violations(
    template: Template, project: Project, by: User, find_rules: FindRules
) -> tuple[Violation, ...]:
    """Return the rules that a workload of the project would break with the values of a template."""
    problems = find_broken_rules(template.draft, project, by=by, find_rules=find_rules)
    return describe_violations(problems)


def describe_violations(problems: Iterable[Problem]) -> tuple[Violation, ...]:
    violations = []
    for problem in problems:
        question = locate_problem(problem)
        cell = question.cell_of(problem.path) if question.is_list else None
        label = cell.label if cell else question.label
        sentence = field_sentence(problem.message, label)
        violations.append(Violation(label, problem.rule, problem.source, sentence))
    return tuple(violations)


def _is_known(message: str, problems: list[Any]) -> bool:
    return any(problem.message == message for problem in problems)


def refusal_of(violations: tuple[Violation, ...]) -> str:
    """Return why a card is disabled: ``Not allowed by policy limits of Project vision.``"""
    sources = dict.fromkeys(violation.source for violation in violations)
    return f"Not allowed by {' and '.join(sources)}." if sources else ""


def limit_options(question: Question, plan: Plan) -> Question:
    """Return a question that offers only what policies allow. Where they list the values of a text,
    it is chosen from the list."""
    path = rule_path(question)
    ruling = plan.policy_rulings.get(path)
    if not question.is_list:
        return _limited(question, ruling) if ruling else question
    cells = tuple(_limited_cell(cell, path, plan) for cell in question.cells)
    return question if cells == question.cells else replace(question, cells=cells)


def _limited_cell(cell: Cell, path: str, plan: Plan) -> Cell:
    ruling = plan.policy_rulings.get(f"{path}[].{cell.key}" if cell.key else path)
    if ruling is None:
        return cell
    is_required = cell.required or bool(cell.key and ruling.required)
    return _limited(replace(cell, required=is_required), ruling)


def _limited(field: F, ruling: FieldRuling) -> F:
    if not ruling.options or field.input not in CHOOSABLE:
        return field
    empty: Option = next(
        (option for option in field.options if not option[0]), ("", field.placeholder or NOT_SET)
    )
    labels = dict(field.options)
    allowed: list[Option] = [
        (str(option.value), labels.get(option.value, option.label)) for option in ruling.options
    ]
    return replace(
        field,
        input=Input.SELECT,
        options=(empty, *allowed),
        choices="",
        missing=NOT_ALLOWED,
    )


def fixed_values(values: Values, question: Question, plan: Plan) -> Values:
    """Return the values of a field with those that a policy fixes, if it has none of its own."""
    has_value = nested.get(values, question.key) not in nested.EMPTY
    if has_value or not is_locked(question, plan):
        return values
    filled = dict(values)
    nested.put(filled, question.key, nested.get(_part_of(question, plan), question.key))
    return filled


def _part_of(question: Question, plan: Plan) -> Values:
    """Return the part of the document that contains the question's value."""
    part: Values = plan.document.get(question.role, {}) if question.role else plan.document
    return part


def default_of(question: Question, plan: Plan) -> Rule | None:
    """Return the rule that fills in a field that nobody gave a value."""
    return plan.policy_defaults.get(rule_path(question), {}).get("")


def is_locked(question: Question, plan: Plan) -> bool:
    """Whether a policy locks the field of a question."""
    ruling = plan.policy_rulings.get(rule_path(question))
    return bool(ruling and ruling.locked)


def kept_value(question: Question, plan: Plan) -> Any:
    """Return the value that a locked field must keep; ``None`` if it must stay empty."""
    rule = default_of(question, plan)
    return rule.value if rule else None


def filled_by_policy(question: Question, plan: Plan) -> tuple[Any, str]:
    """Return the value that a policy filled in, and the policy; nothing and an empty text if the
    value came from elsewhere."""
    value = nested.get(_part_of(question, plan), question.key)
    origin = plan.origin_of(rule_path(question))
    is_filled = value not in nested.EMPTY and origin.startswith(COMES_FROM_POLICY)
    return (value, origin) if is_filled else (None, "")


def sources_of(question: Question, plan: Plan) -> set[str]:
    """Return the policies that fill in a field or add items to a list, imposed data sources
    included."""
    _, source = filled_by_policy(question, plan)
    sources = {rule.source.label for _, _, rule in _default_items(question, plan)}
    sources |= {source} if source else set()
    if question.key == IMPOSED_KIND.list_key:
        sources |= {source for _, source in imposed_assets(plan.policy_rules, question.role)}
    return sources


def item_with_key(question: Question, plan: Plan, key: str) -> Any:
    """Return the item of a list that policies fill in under a key; ``None`` without one."""
    return next((item for name, item, _ in _default_items(question, plan) if name == key), None)


def add_items(shown: ShownField, question: Question, plan: Plan) -> None:
    """Show the items that policies add to a list. Those that are locked cannot be changed."""
    rulings = [ruling for _, ruling in policy_rulings(plan, question)]
    locked = {key for ruling in rulings for key in ruling.locked_items}
    for key, item, rule in _default_items(question, plan):
        note = str(rule.value.get("description") or f"from {rule.source.label}")
        if key in locked:
            note = f"locked by {rule.source.label}"
        words = "" if question.input is Input.ROWS else _item_text(question, item) or key
        shown.inherited.append(
            Inherited(key, str(item.get("value") or ""), note, words, fixed=key in locked)
        )
    if question.key == IMPOSED_KIND.list_key and plan.policy_rules:
        shown.inherited += _imposed_sources(question.role, plan)


def _default_items(question: Question, plan: Plan) -> Iterator[tuple[str, Values, Rule]]:
    """Yield the items of a list that come from policies, each with its key and its rule."""
    path = rule_path(question)
    defaults = plan.policy_defaults.get(path, {})
    items = nested.get(_part_of(question, plan), question.key) if defaults else None
    for number, item in enumerate(items if isinstance(items, list) else ()):
        origin = plan.origin_of(f"{path}[{number}]")
        key = next((key for key in defaults if isinstance(item, dict) and key in item.values()), "")
        rule = defaults.get(key)
        if rule and key and origin == rule.source.label and question.includes(item):
            yield key, item, rule


def _item_text(field: Field, item: Values) -> str:
    """Return the values of an item in the order of its cells."""
    cells = show_item(field, "", item, {}).cells
    texts = [
        shown.cell.label.lower() if shown.cell.input is Input.FLAG else shown.value
        for shown in cells
        if shown.on or shown.value
    ]
    return ", ".join(texts)


def _imposed_sources(role: str, plan: Plan) -> Iterator[Inherited]:
    sources = dict(imposed_assets(plan.policy_rules, role))
    for asset in IMPOSED_KIND.rows.filter(pk__in=sources).order_by("name"):
        kind_and_path = IMPOSED_KIND.option_label(asset).removeprefix(asset.name).strip()
        note = f"imposed by {sources[str(asset.pk)]}"
        yield Inherited(asset.name, "", note, kind_and_path, fixed=True)


def bar_data_sources(shown: ShownField, question: Question, plan: Plan) -> None:
    """Disable the data sources that policies rule out, among the options of a list."""
    if question.key != IMPOSED_KIND.list_key or not (shown.items and plan.policy_rules):
        return
    rows = IMPOSED_KIND.rows.visible_to(plan.by).usable_in(plan.project) if plan.project else ()
    refused = {
        str(row.pk): (row.name, violations)
        for row in rows
        if (violations := find_asset_violations(plan, IMPOSED_KIND, row, question.role))
    }
    shown.refused = list(refused.values())
    for cell in (item.by_slug["id"] for item in shown.items):
        barred = [value for value, _ in cell.options if value in refused and value != cell.value]
        cell.options = [option for option in cell.options if option[0] not in barred]
        cell.barred += [f"{refused[pk][0]}: {refusal_of(refused[pk][1])}" for pk in barred]


def limit_items(shown: ShownField, question: Question, plan: Plan) -> None:
    """Say in the items of a list what policies say about their parts, and disable parts that they
    fix."""
    path = rule_path(question)
    rulings = {
        cell.key: ruling
        for cell in question.cells
        if cell.key and (ruling := plan.policy_rulings.get(f"{path}[].{cell.key}"))
    }
    for item in shown.items if rulings else ():
        _limit_cells(item, rulings, path, plan)


def _limit_cells(item: ShownItem, rulings: dict[str, FieldRuling], path: str, plan: Plan) -> None:
    for shown in item.cells:
        ruling = rulings.get(shown.cell.key)
        if ruling is None:
            continue
        shown.note = f"{shown.note} {ruling.sentence}".strip()
        rule = plan.policy_defaults.get(f"{path}[].{shown.cell.key}", {}).get("")
        if ruling.locked and shown.value in {"", str(rule.value) if rule else ""}:
            shown.locked = True
            shown.value = str(rule.value) if rule else ""
