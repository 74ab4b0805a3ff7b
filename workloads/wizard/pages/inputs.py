"""Build the inputs of a page: each question with its value, its errors, and the origin of the
value."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from assets.kinds import KINDS
from core.forms import nested, words
from core.forms.durations import split_duration
from core.forms.field import Input
from core.forms.shown import Inherited, ShownField, show_field
from spec.draft import Values
from spec.framework import framework_with
from spec.values.variable import MASK, looks_secret
from workloads.plan import Plan
from workloads.wizard.choices import inherited, namespace, policies, rules
from workloads.wizard.choices.offers import Offer
from workloads.wizard.locations import find_item_index
from workloads.wizard.pages.problems import LocatedProblem, problem_sentence
from workloads.wizard.sections import table
from workloads.wizard.sections.base import Question, Section

#: Inputs in which a person may replace an asset's value.
REPLACEABLE = {Input.TEXT, Input.WHOLE, Input.NUMBER, Input.SELECT}


def page_inputs(
    plan: Plan, page: int, offer: Offer, located: Iterable[LocatedProblem], touched: set[str]
) -> Iterator[ShownField]:
    """Yield the inputs of a page. Only ``touched`` questions, which the author has left, show their
    errors."""
    problems = list(located)
    for question in table.questions_on(page):
        values = question.values_in(plan.draft) or {}
        if _is_asked(question, values, plan, offer):
            shown = _show_question(question, values, plan, offer)
            if question.name in touched:
                _add_errors(shown, question, plan, problems)
            yield shown


def _is_asked(question: Question, values: Values, plan: Plan, offer: Offer) -> bool:
    """Return whether the page shows a question.

    Some questions are only for certain kinds, frameworks and clusters. Elsewhere they appear only
    while they have an answer, so that it can be removed. Lists are always there, because their add
    buttons fill them.
    """
    draft = plan.draft
    if rules.is_hidden(plan, question) or not question.is_for(draft):
        return False
    is_missing = not offer.may_ask(question) or (
        question.only_if_supported and offer.why_not(question)
    )
    has_answer = _has_answer(values, question) or bool(policies.sources_of(question, plan))
    if is_missing and not has_answer:
        return False
    if question.is_list or nested.get(values, question.key):
        return True
    fits_framework = framework_with(question.key) in {None, draft.framework}
    fits_kind = question.key in draft.traits.shares
    return (fits_framework or fits_kind) and not offer.why_missing(
        table.find_section(question.section)
    )


def _has_answer(values: Values, question: Question) -> bool:
    """Return whether the question, or another one with the same first key, has an answer."""
    return nested.get(values, question.key.partition(".")[0]) not in nested.EMPTY


def _show_question(question: Question, values: Values, plan: Plan, offer: Offer) -> ShownField:
    """Build the input of a question in the order in which its parts depend on each other."""
    field = question
    if question.may_be_typed and not offer.choices.get(question.choices):
        field = replace(question, input=Input.TEXT)
    field = policies.limit_options(field, plan)
    values = policies.fixed_values(values, question, plan)
    default_items = _project_default(plan, question, offer)
    if default_items and nested.get(values, question.key) in nested.EMPTY:
        values = {question.key: default_items}
    shown = show_field(field, values, offer.choices)
    if default_items:
        _compare_with_default(shown, default_items, plan)
    _hide_unsupported(shown, question, offer)
    question.add_details(shown, plan, offer)
    if question.is_list:
        namespace.add_notes(shown, offer)
        shown.removed = list(inherited.removed_items(question, plan))
    _add_origin(shown, question, plan)
    rules.show_rulings(shown, question, plan, offer)
    if question.is_list:
        policies.add_items(shown, question, plan)
        policies.limit_items(shown, question, plan)
        policies.bar_data_sources(shown, question, plan)
    else:
        _add_policy_default(shown, question, plan)
    return shown


def _hide_unsupported(shown: ShownField, question: Question, offer: Offer) -> None:
    """Hide the cells and options that the cluster does not support. A cell with a value, as in a
    copied workload, and a chosen option stay visible so that they can be removed."""
    shown.why_not = offer.why_not(question)
    if shown.why_not:
        return
    for number, cell in enumerate(question.cells):
        why_no_cell = offer.why_not(question, cell)
        why_no_option: dict[str, str] = {}
        if why_no_cell:
            label = cell.label.removeprefix("Or ")  # without the cell before it, which is asked for
            shown.withheld.append((f"{label[:1].upper()}{label[1:]}", why_no_cell))
        else:
            for value, label in cell.options:
                why_no_option[value] = offer.why_not(question, cell, value)
                if why_no_option[value]:
                    shown.withheld.append((label, why_no_option[value]))
        for item in shown.items:
            shown_cell = item.cells[number]
            shown_cell.hidden = bool(why_no_cell) and not shown_cell.value
            shown_cell.options = [
                (value, label)
                for value, label in shown_cell.options
                if value == shown_cell.value or not why_no_option.get(value)
            ]


def _project_default(plan: Plan, question: Question, offer: Offer) -> list[str]:
    """Return the project's default items of a list. There are none if the cluster does not support
    the section."""
    if not (question.project_default and plan.project):
        return []
    if offer.why_missing(table.find_section(question.section)):
        return []
    return list(getattr(plan.project, question.project_default))


def _compare_with_default(shown: ShownField, default_items: list[str], plan: Plan) -> None:
    """Say whether a list uses the project's default items or replaces them."""
    shown.is_default = nested.get(plan.document, shown.field.key) == default_items
    shown.changed = not shown.is_default
    verb = "Replaces" if shown.changed else "Uses"
    shown.origin = f"{verb} {', '.join(default_items)} from project {plan.project}."


def _add_errors(
    shown: ShownField, question: Question, plan: Plan, located: Iterable[LocatedProblem]
) -> None:
    for problem_question, problem in located:
        if problem_question == question:
            index = find_item_index(problem, question, plan)
            shown.add_error(problem_sentence(question, problem), problem.path, item=index)


def _add_origin(shown: ShownField, question: Question, plan: Plan) -> None:
    origin = plan.origins.get(question.dotted_key, "")
    if origin.startswith("template "):
        shown.origin = f"From {origin}. {shown.origin}".strip()
    for (role, slug), asset in plan.assets.items():
        if role == question.role:
            kind = KINDS[slug]
            effective = nested.get(plan.document.get(role, {}), shown.field.key)
            _add_layer(shown, kind.layer(asset), f"{kind.noun} {asset.name}", effective)


def _add_layer(shown: ShownField, layer: Values, source: str, effective: Any) -> None:
    """Show the value of an asset for a question. ``effective`` is the value that the workload
    gets."""
    value = nested.get(layer, shown.field.key)
    if shown.field.input is Input.ROWS:
        _inherit_rows(shown, value or [], source)
    elif shown.field.inherits:
        _inherit_items(shown, value or [], source)
    elif value not in nested.EMPTY and shown.field.input in REPLACEABLE:
        shown.changed = shown.value not in nested.EMPTY
        verb = "Replaces" if shown.changed else "Uses"
        # If the two values differ, another field has replaced the asset's.
        if shown.changed or effective == value:
            shown.origin = f"{verb} {_value_label(shown, value)} from {source}."


def _add_policy_default(shown: ShownField, question: Question, plan: Plan) -> None:
    """Show the value that a policy fills in, or that a person replaced."""
    value, source = policies.filled_by_policy(question, plan)
    own = nested.get(question.values_in(plan.draft) or {}, question.key)
    rule = policies.default_of(question, plan)
    if source:
        shown.origin = f"Uses {_value_label(shown, value)} from {source}. {shown.origin}".strip()
        if question.input is Input.DURATION:
            value, shown.unit = split_duration(value)
        shown.field = replace(shown.field, placeholder=str(value))  # not our own default
    elif rule and not shown.origin and own not in (*nested.EMPTY, rule.value):
        shown.changed = True
        shown.origin = f"Replaces {_value_label(shown, rule.value)} from {rule.source.label}."


def _value_label(shown: ShownField, value: Any) -> str:
    if shown.field.input is Input.DURATION:
        return " ".join(split_duration(value))
    label = dict(shown.field.options).get(str(value), "")
    return f"{label[:1].lower()}{label[1:]}" or str(value)


def _inherit_rows(shown: ShownField, rows: list[Values], source: str) -> None:
    """Show the asset's rows, and mark the rows with which the author replaces them."""
    by_name = {item.by_slug["name"].value: item for item in shown.items}
    removed_names = {removed.name for removed in shown.removed}
    for row in rows:
        name = row["name"]
        if name in removed_names:
            continue
        replacement = by_name.get(name)
        if replacement:
            replacement.note = f"Replaces the one of {source}."
            if instruction := row.get("description"):
                replacement.note = f"{instruction.rstrip('.')}. {replacement.note}"
            continue
        value = row.get("value")
        note = row.get("description") or ("" if value is not None else "set by the cluster")
        if value and looks_secret(name):
            value = MASK
        shown.inherited.append(Inherited(name, value or "", note))


def _inherit_items(shown: ShownField, items: list[Values], source: str) -> None:
    """Show the asset's items that the author has not replaced, if the question describes them."""
    describe_item = shown.field.describe_item if isinstance(shown.field, Question) else None
    if describe_item is None:
        return
    hidden_names = {item.by_slug["name"].value for item in shown.items}
    hidden_names |= {removed.name for removed in shown.removed}
    for item in items:
        if item["name"] not in hidden_names:
            text = describe_item(item)
            shown.inherited.append(Inherited(item["name"], "", f"from {source}", text))


@dataclass(frozen=True)
class Fold:
    """A section that can be opened. ``why_missing`` says why the cluster does not support it.
    ``has_focus`` means that the author is working in it, so that it stays open."""

    section: Section
    inputs: list[ShownField]
    why_missing: str = ""
    has_focus: bool = False

    @property
    def key(self) -> str:
        return self.section.key

    @property
    def changed_count(self) -> int:
        """The number of inputs that differ from their default. A list counts all of its items."""
        return sum(len(shown.filled) or 1 for shown in self.inputs if shown.is_given)

    @property
    def is_invalid(self) -> bool:
        return any(shown.invalid for shown in self.inputs)

    @property
    def is_open(self) -> bool:
        return self.is_invalid or self.has_focus

    @property
    def withheld(self) -> list[tuple[str, str]]:
        """The lists, cells and options that the cluster does not support, as pairs of labels and
        reason. Labels with the same reason share a pair."""
        if self.why_missing:
            return []
        labels_by_reason: dict[str, list[str]] = {}
        for shown in self.inputs:
            is_missing = shown.field.is_list and shown.why_not
            whole_list = [(shown.field.label, shown.why_not)] if is_missing else []
            for label, why in whole_list or shown.withheld:
                labels_by_reason.setdefault(words.field_sentence(why), []).append(label)
        return [
            (", ".join(dict.fromkeys(labels)), reason)
            for reason, labels in labels_by_reason.items()
        ]

    @property
    def lists(self) -> list[ShownField]:
        return [shown for shown in self.inputs if shown.field.is_list]

    @property
    def single_inputs(self) -> list[ShownField]:
        return [shown for shown in self.inputs if not shown.field.is_list]
