"""The inputs of a page: each question with its value, its errors, and where the value came from."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from assets.kinds import KINDS
from core.forms import nested, words
from core.forms.field import Input
from core.forms.shown import Inherited, ShownField, show_field
from spec.draft import Values
from spec.framework import owner_of
from spec.values.variable import MASK, looks_secret
from workloads.plan import Plan
from workloads.wizard.choices import namespace, rules
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
    """The inputs of a page. Only ``touched`` questions, which the author has left, show their
    errors."""
    located = list(located)
    for question in table.questions_on(page):
        values = question.values_in(plan.draft) or {}
        if _is_asked(question, values, plan, offer):
            shown = _show_question(question, values, plan, offer)
            if question.name in touched:
                _add_errors(shown, question, plan, located)
            yield shown


def _is_asked(question: Question, values: Values, plan: Plan, offer: Offer) -> bool:
    """Whether the page shows a question.

    Some are only for certain kinds, frameworks and clusters. Elsewhere they are shown only while
    they have an answer, so that it can be removed. Lists are always there, as their add buttons
    fill them.
    """
    draft = plan.draft
    if rules.is_hidden(plan, question) or not question.is_for(draft):
        return False
    if not offer.may_ask(question) and not _has_answer(values, question):
        return False
    if question.is_list or nested.get(values, question.key):
        return True
    fits_framework = owner_of(question.key) in {None, draft.framework}
    fits_kind = question.key in draft.traits.shares
    return (fits_framework or fits_kind) and not offer.why_missing(
        table.find_section(question.section)
    )


def _has_answer(values: Values, question: Question) -> bool:
    """Whether the question has an answer, or another one with the same first key has."""
    return nested.get(values, question.key.partition(".")[0]) not in nested.EMPTY


def _show_question(question: Question, values: Values, plan: Plan, offer: Offer) -> ShownField:
    field = question
    if question.may_be_typed and not offer.choices.get(question.choices):
        field = replace(question, input=Input.TEXT)
    standard = _project_default(plan, question, offer)
    if standard and nested.get(values, question.key) in nested.EMPTY:
        values = {question.key: standard}
    shown = show_field(field, values, offer.choices)
    if standard:
        _compare_with_default(shown, standard, plan)
    _hide_unsupported(shown, question, offer)
    question.add_details(shown, plan, offer)
    if question.is_list:
        namespace.add_notes(shown, offer)
    _add_origin(shown, question, plan)
    rules.show_rule(shown, question, plan)
    return shown


def _hide_unsupported(shown: ShownField, question: Question, offer: Offer) -> None:
    """Hide the cells and options that the cluster does not support. Those that already have a
    value, such as in a copied workload, stay visible so that they can be removed."""
    shown.why_not = offer.why_not(question)
    if shown.why_not:
        return
    for number, cell in enumerate(question.cells):
        why = offer.why_not(question, cell)
        options = (
            {} if why else {it[0]: offer.why_not(question, cell, it[0]) for it in cell.options}
        )
        shown.withheld += [(cell.label, why)] if why else []
        shown.withheld += [
            (label, options[value]) for value, label in cell.options if options.get(value)
        ]
        for item in shown.items:
            here = item.cells[number]
            here.hidden = bool(why) and not here.value
            here.options = [
                it for it in here.options if it[0] == here.value or not options.get(it[0])
            ]


def _project_default(plan: Plan, question: Question, offer: Offer) -> list[str]:
    """The project's default items of a list; none if the cluster does not support the section."""
    if not (question.project_default and plan.project):
        return []
    lacks = offer.why_missing(table.find_section(question.section))
    return [] if lacks else list(getattr(plan.project, question.project_default))


def _compare_with_default(shown: ShownField, standard: list[str], plan: Plan) -> None:
    """Say whether a list uses the project's default items or replaces them."""
    shown.is_default = nested.get(plan.document, shown.field.key) == standard
    shown.changed = not shown.is_default
    verb = "Replaces" if shown.changed else "Uses"
    shown.origin = f"{verb} {', '.join(standard)} from project {plan.project}."


def _add_errors(
    shown: ShownField, question: Question, plan: Plan, located: Iterable[LocatedProblem]
) -> None:
    for its, problem in located:
        if its == question:
            number = find_item_index(problem, question, plan)
            shown.add_error(problem_sentence(question, problem), problem.path, item=number)


def _add_origin(shown: ShownField, question: Question, plan: Plan) -> None:
    origin = plan.origins.get(question.dotted_key, "")
    if origin.startswith("template "):
        shown.origin = f"From {origin}. {shown.origin}".strip()
    for (role, slug), asset in plan.assets.items():
        if role == question.role:
            kind = KINDS[slug]
            counts = nested.get(plan.document.get(role, {}), shown.field.key)
            _add_layer(shown, kind.layer(asset), f"{kind.noun} {asset.name}", counts)


def _add_layer(shown: ShownField, layer: Values, source: str, counts: Any) -> None:
    """Show what an asset contributes to a question. ``counts`` is the value that applies in the
    end."""
    theirs = nested.get(layer, shown.field.key)
    if shown.field.input is Input.ROWS:
        _inherit_rows(shown, theirs or [], source)
    elif shown.field.inherits:
        _inherit_items(shown, theirs or [], source)
    elif theirs not in nested.EMPTY and shown.field.input in REPLACEABLE:
        shown.changed = shown.value not in nested.EMPTY
        verb = "Replaces" if shown.changed else "Uses"
        if shown.changed or counts == theirs:  # else another field replaced it
            shown.origin = f"{verb} {_value_label(shown, theirs)} from {source}."


def _value_label(shown: ShownField, value: Any) -> str:
    label = dict(shown.field.options).get(str(value), "")
    return f"{label[:1].lower()}{label[1:]}" or str(value)


def _inherit_rows(shown: ShownField, theirs: list[Values], source: str) -> None:
    by_name = {item.by_slug["name"].value: item for item in shown.items}
    for item in theirs:
        own = by_name.get(item["name"])
        if own:
            own.note = f"Replaces the one of {source}."
        else:
            value = item.get("value")
            value = MASK if value and looks_secret(item["name"]) else value
            note = item.get("description") or ("" if value is not None else "set by the cluster")
            shown.inherited.append(Inherited(item["name"], value or "", note))


def _inherit_items(shown: ShownField, theirs: list[Values], source: str) -> None:
    own = {item.by_slug["name"].value for item in shown.items}
    in_words = shown.field.describe_item if isinstance(shown.field, Question) else None
    for item in theirs if in_words else ():
        if item["name"] not in own:
            text = in_words(item) if in_words else ""
            shown.inherited.append(Inherited(item["name"], "", f"from {source}", text))


@dataclass(frozen=True)
class Fold:
    """A section that can be opened. ``lacks`` says why the cluster does not support it.
    ``has_focus``: the author is working in it, so that it stays open."""

    section: Section
    inputs: list[ShownField]
    why_missing: str = ""
    has_focus: bool = False

    @property
    def key(self) -> str:
        return self.section.key

    @property
    def changed_count(self) -> int:
        """Number of inputs that differ from their default, where a list counts all of its items."""
        return sum(len(it.filled) or 1 for it in self.inputs if it.is_given)

    @property
    def is_invalid(self) -> bool:
        return any(it.invalid for it in self.inputs)

    @property
    def is_open(self) -> bool:
        return self.is_invalid or self.has_focus

    @property
    def withheld(self) -> list[tuple[str, str]]:
        """The lists and cells that the cluster does not support, as pairs of labels and reason.
        Labels with the same reason share a pair."""
        labels: dict[str, list[str]] = {}
        for it in [] if self.why_missing else self.lists:
            for label, why in [(it.field.label, it.why_not)] if it.why_not else it.withheld:
                labels.setdefault(words.field_sentence(why), []).append(label)
        return [(", ".join(dict.fromkeys(its)), why) for why, its in labels.items()]

    @property
    def lists(self) -> list[ShownField]:
        return [it for it in self.inputs if it.field.is_list]

    @property
    def single_inputs(self) -> list[ShownField]:
        return [it for it in self.inputs if not it.field.is_list]
