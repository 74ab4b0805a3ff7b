"""The inputs of a page: each question with its value, its errors, and where the value came from."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from assets.environment import tools
from assets.environment.variables import VALUE
from assets.kinds import KINDS
from core.forms import nested, words
from core.forms.field import Input
from core.forms.shown import Inherited, Shown, show
from spec.draft import Values, WorkloadDraft
from spec.formats.merge import parts_of_a_gpu
from spec.framework import owner_of
from spec.kind import kinds_of
from spec.values.variable import MASK, looks_secret
from workloads.plan import Plan
from workloads.wizard.choices import people, rules, there
from workloads.wizard.choices.offers import Offer
from workloads.wizard.pages.problems import Located, sentence
from workloads.wizard.places import number_of, replica_of, values_of
from workloads.wizard.sections import table
from workloads.wizard.sections.base import Question, Section
from workloads.wizard.sections.resources.requests import PART_OF_A_GPU

#: Inputs in which a person may replace an asset's value.
OVERRIDES = {Input.TEXT, Input.WHOLE, Input.NUMBER, Input.SELECT}


def inputs(
    plan: Plan, page: int, offer: Offer, located: Iterable[Located], touched: set[str]
) -> Iterator[Shown]:
    """The inputs of a page. Only ``touched`` questions, which the author has left, show their
    errors."""
    here = list(located)
    for question in table.on(page):
        if _has(plan.draft, question, offer) and not rules.is_hidden(plan, question):
            shown = _show(plan, question, offer)
            if question.name in touched:
                _add_errors(shown, question, plan, here)
            yield shown


def _has(content: WorkloadDraft, question: Question, offer: Offer) -> bool:
    """Whether the page shows a question.

    Some are only for certain kinds, frameworks and clusters. Elsewhere they are shown only while
    they have an answer, so that it can be removed. Lists are always there, as their add buttons
    fill them.
    """
    values = values_of(content, question) or {}
    given = nested.get(values, question.key)
    if given is None and _is_of_another_part(values, question):
        return False
    if question.key in {"name", "template"} and content.is_template:
        return False  # it has its own name, and begins from none
    if not offer.asks(question) and not _is_begun(values, question):
        return False
    traits = content.traits
    if not traits.may_have(question.key) or (question.key == "framework" and not traits.is_gang):
        return False
    if question.name == "kind" and len(kinds_of(traits.noun)) == 1:
        return False  # it was chosen by the menu
    if question.is_list or given:
        return True
    fits = question.key in traits.shares or owner_of(question.key) in {None, content.framework}
    return fits and not offer.lacks(table.section(question.section))


def _is_of_another_part(values: Values, question: Question) -> bool:
    """Whether the question asks for an amount of another part of a GPU than the chosen one."""
    chosen = nested.get(values, PART_OF_A_GPU)
    others = parts_of_a_gpu(but=chosen) if chosen else ()
    return question.key.removeprefix("compute.") in others


def _is_begun(values: Values, question: Question) -> bool:
    """Whether the question has an answer, or another one with the same first key has."""
    return nested.get(values, question.key.partition(".")[0]) not in nested.EMPTY


def _show(plan: Plan, question: Question, offer: Offer) -> Shown:
    content = plan.draft
    asked = question
    if question.typed and not offer.choices.get(question.choices):
        asked = replace(question, input=Input.TEXT)
    values, standard = values_of(content, question) or {}, _standard(plan, question, offer)
    begins = bool(standard) and nested.get(values, question.key) in nested.EMPTY
    shown = show(asked, {question.key: standard} if begins else values, offer.choices)
    if standard:
        _compare(shown, standard, plan)
    _withhold(shown, question, offer)
    if question.input is Input.CARDS and question.role:
        replica = replica_of(content, question.role)
        shown.value = replica.assets.get(question.key, "") if replica else ""
    elif question.input is Input.CARDS or question.key == "name":
        shown.value = getattr(content, question.key, "")
    if question.key == "environmentVariables":
        given = nested.items(values_of(content, question) or {}, question.key)
        _ask_sources(shown, given, offer)
    if question.is_list:
        there.note(shown, offer)
    if question.key == "connections":
        for item in shown.items:
            tools.leave_out(item)
        people.warn(shown, offer.by)
    if question.key == "name":
        shown.ok = _free_name(plan)
    _add_origin(shown, question, plan)
    rules.show(shown, question, plan)
    return shown


def _withhold(shown: Shown, question: Question, offer: Offer) -> None:
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


def _standard(plan: Plan, question: Question, offer: Offer) -> list[str]:
    """The project's default items of a list; none if the cluster does not support the section."""
    if not (question.of_project and plan.project):
        return []
    lacks = offer.lacks(table.section(question.section))
    return [] if lacks else list(getattr(plan.project, question.of_project))


def _compare(shown: Shown, standard: list[str], plan: Plan) -> None:
    """Say whether a list uses the project's default items or replaces them."""
    shown.is_default = nested.get(plan.document, shown.field.key) == standard
    shown.changed = not shown.is_default
    verb = "Replaces" if shown.changed else "Uses"
    shown.origin = f"{verb} {', '.join(standard)} from project {plan.project}."


def _ask_sources(shown: Shown, given: list[Any], offer: Offer) -> None:
    """Ask for the source of a variable's value, unless there is only one."""
    elsewhere = any(item.by["source"].value for item in shown.items)
    for item in shown.items:
        if item.by["value"].value == MASK:
            item.note = f"Hidden. The value is kept as long as the field says {MASK}."
        source = item.by["source"]
        source.hidden = item.by["key"].hidden = not (elsewhere or offer.sources - {VALUE})
        possible = offer.sources | {source.value}
        source.options = [it for it in source.options if it[0] in possible]
    holds = shown.field.holds
    offer.credentials.ask(zip(shown.items, filter(holds, given), strict=True))


def _free_name(plan: Plan) -> str:
    bad = any(problem.path == ("name",) for problem in plan.problems)
    return "" if bad or not plan.project else f"Free in {plan.project.name}"


def _add_errors(shown: Shown, question: Question, plan: Plan, located: Iterable[Located]) -> None:
    for its, problem in located:
        if its == question:
            number = number_of(problem, question, plan)
            shown.add_error(sentence(question, problem), problem.path, item=number)


def _add_origin(shown: Shown, question: Question, plan: Plan) -> None:
    origin = plan.origins.get(question.dotted, "")
    if origin.startswith("template "):
        shown.origin = f"From {origin}. {shown.origin}".strip()
    for (role, slug), asset in plan.assets.items():
        if role == question.role:
            kind = KINDS[slug]
            counts = nested.get(plan.document.get(role, {}), shown.field.key)
            _add_layer(shown, kind.layer(asset), f"{kind.noun} {asset.name}", counts)


def _add_layer(shown: Shown, layer: Values, source: str, counts: Any) -> None:
    """Show what an asset contributes to a question. ``counts`` is the value that applies in the
    end."""
    theirs = nested.get(layer, shown.field.key)
    if shown.field.input is Input.ROWS:
        _inherit(shown, theirs or [], source)
    elif shown.field.inherits:
        _inherit_items(shown, theirs or [], source)
    elif theirs not in nested.EMPTY and shown.field.input in OVERRIDES:
        shown.changed = shown.value not in nested.EMPTY
        verb = "Replaces" if shown.changed else "Uses"
        if shown.changed or counts == theirs:  # else another field replaced it
            shown.origin = f"{verb} {_label(shown, theirs)} from {source}."


def _label(shown: Shown, value: Any) -> str:
    label = dict(shown.field.options).get(str(value), "")
    return f"{label[:1].lower()}{label[1:]}" or str(value)


def _inherit(shown: Shown, theirs: list[Values], source: str) -> None:
    by_name = {item.by["name"].value: item for item in shown.items}
    for item in theirs:
        own = by_name.get(item["name"])
        if own:
            own.note = f"Replaces the one of {source}."
        else:
            value = item.get("value")
            value = MASK if value and looks_secret(item["name"]) else value
            note = item.get("description") or ("" if value is not None else "set by the cluster")
            shown.inherited.append(Inherited(item["name"], value or "", note))


def _inherit_items(shown: Shown, theirs: list[Values], source: str) -> None:
    own = {item.by["name"].value for item in shown.items}
    in_words = shown.field.words if isinstance(shown.field, Question) else None
    for item in theirs if in_words else ():
        if item["name"] not in own:
            text = in_words(item) if in_words else ""
            shown.inherited.append(Inherited(item["name"], "", f"from {source}", text))


@dataclass(frozen=True)
class Fold:
    """A section that can be opened. ``lacks`` says why the cluster does not support it.
    ``has_focus``: the author is working in it, so that it stays open."""

    section: Section
    inputs: list[Shown]
    lacks: str = ""
    has_focus: bool = False

    @property
    def key(self) -> str:
        return self.section.key

    @property
    def changed(self) -> int:
        """Number of inputs that differ from their default, where a list counts all of its items."""
        return sum(len(it.filled) or 1 for it in self.inputs if it.is_given)

    @property
    def invalid(self) -> bool:
        return any(it.invalid for it in self.inputs)

    @property
    def is_open(self) -> bool:
        return self.invalid or self.has_focus

    @property
    def withheld(self) -> list[tuple[str, str]]:
        """The lists and cells that the cluster does not support, as pairs of labels and reason.
        Labels with the same reason share a pair."""
        labels: dict[str, list[str]] = {}
        for it in [] if self.lacks else self.lists:
            for label, why in [(it.field.label, it.why_not)] if it.why_not else it.withheld:
                labels.setdefault(words.sentence(why), []).append(label)
        return [(", ".join(dict.fromkeys(its)), why) for why, its in labels.items()]

    @property
    def lists(self) -> list[Shown]:
        return [it for it in self.inputs if it.field.is_list]

    @property
    def singles(self) -> list[Shown]:
        return [it for it in self.inputs if not it.field.is_list]
