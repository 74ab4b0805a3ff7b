"""Ask for the rules of a template while it is edited, and show what templates and policies say
about the fields of a draft."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from django.urls import reverse

from core.forms.durations import split_duration
from core.forms.field import Input, Option
from core.forms.shown import ShownField, ShownRule, ShownRuling
from policies.rules import Enforcement
from spec.draft import FieldRule, WorkloadDraft
from spec.formats.connections import PORTS, URLS
from spec.formats.merge import parent_paths
from spec.problems.rulings import FieldRuling
from workloads.plan import Plan
from workloads.wizard.sections.base import Question
from workloads.wizard.sections.table import questions

if TYPE_CHECKING:
    from workloads.wizard.choices.offers import Offer

FREE = ""
REQUIRED = "required"
LOCKED = "locked"
HIDDEN = "hidden"
OPTIONS: tuple[Option, ...] = (
    (FREE, "Free to change"),
    (REQUIRED, "Required"),
    (LOCKED, "Locked"),
    (HIDDEN, "Hidden"),
)
#: These fields belong to a single workload. A template has no rules for them.
UNRULED = {"cluster", "project", "template", "name"}
LONGEST = 200
BACK_TO_TEMPLATE = "Back to the template"
BACK_TO_POLICY = "Use the policy's value"
#: Questions that policies know by other names: the name, and how people read it.
OTHER_NAMES: Mapping[str, tuple[Option, ...]] = {
    "connections": ((PORTS, "Ports"), (URLS, "URLs")),
    "framework": (("distributedFramework", ""),),
}


def may_have_rule(question: Question) -> bool:
    """Return whether a template may have a rule for the question. If two questions share a list,
    only the first may."""
    return question.key not in UNRULED and not question.alias


def rule_path(question: Question) -> str:
    """Return the question's path as rules write it, such as ``worker.image``."""
    return ".".join(map(str, question.path))


def is_hidden(plan: Plan, question: Question) -> bool:
    """Return whether the template hides the question."""
    ruling = plan.rulings.get(rule_path(question))
    return bool(ruling and ruling.hidden)


def show_rulings(shown: ShownField, question: Question, plan: Plan, offer: "Offer") -> None:
    """Show what the template and the policies of a draft say about a field. While a template is
    edited, show the choice of its rule instead."""
    field = rule_path(question)
    if plan.draft.is_template:
        if may_have_rule(question):
            rule = next((rule for rule in plan.draft.rules or () if rule.field == field), None)
            why = rule.why if rule else ""
            shown.rule = ShownRule(f"rule-{question.name}", _rule_mode(rule), why, OPTIONS)
        return
    if ruling := plan.rulings.get(field):
        shown.rulings.append(_shown_ruling(ruling, field, plan, reset=BACK_TO_TEMPLATE))
    rulings = policy_rulings(plan, question)
    names = OTHER_NAMES.get(question.key, ((question.key, ""),))
    for label, ruling in rulings:
        if ruling.sentence:
            text = _policy_text(_in_units(ruling, question), label, offer)
            reset = "" if question.key in OTHER_NAMES else BACK_TO_POLICY
            problem_field = field if question.role else names[0][0]
            policy = _shown_ruling(ruling, problem_field, plan, text=text, reset=reset)
            if ruling.locked and plan.project:
                policy = replace(policy, address=reverse("project-policy", args=[plan.project.pk]))
            shown.rulings.append(policy)
        if question.input in {Input.WHOLE, Input.NUMBER}:
            shown.bounds = _bounds(ruling, shown.value)
    # The tools of a pod are two lists of a policy.
    shown.may_add = len(rulings) < len(names) or any(ruling.may_add for _, ruling in rulings)


def policy_rulings(plan: Plan, question: Question) -> list[tuple[str, FieldRuling]]:
    """Return what policies say about a question, each with the name of the part that it is about,
    which is empty if that is all of it."""
    names = OTHER_NAMES.get(question.key, ((question.key, ""),))
    prefix = f"{question.role}." if question.role else ""
    found = [(label, plan.policy_rulings.get(prefix + name)) for name, label in names]
    rulings = [(label, ruling) for label, ruling in found if ruling]
    # A field of an object that is locked as a whole, such as a probe, is locked.
    for holder in parent_paths(rule_path(question)):
        ruling = plan.policy_rulings.get(holder)
        if ruling and ruling.locked:
            rulings.append(("", ruling))
    return rulings


def _policy_text(ruling: FieldRuling, label: str, offer: "Offer") -> str:
    """Return what policies say about a field or a part of it. A lock says who can lift it."""
    sentence = ruling.sentence
    if label:
        sentence = f"{label}: {sentence[:1].lower()}{sentence[1:]}"
    return f"{sentence} {offer.who_changes_policies}".strip() if ruling.locked else sentence


def _shown_ruling(
    ruling: FieldRuling, field: str, plan: Plan, *, text: str = "", reset: str
) -> ShownRuling:
    holders = {field, *parent_paths(field)}
    strayed = ruling.locked and any(
        problem.rule == Enforcement.CAN_EDIT
        and problem.field in holders
        and problem.source in ruling.source
        for problem in plan.problems
    )
    return ShownRuling(
        text or ruling.sentence,
        locked=ruling.locked,
        required=ruling.required,
        strayed=strayed,
        reset=reset,
    )


def _in_units(ruling: FieldRuling, question: Question) -> FieldRuling:
    """Return a ruling with durations as people read them."""
    if question.input is not Input.DURATION:
        return ruling
    limits: dict[str, Any] = {
        name: " ".join(split_duration(value))
        for name in ("min", "max", "step")
        if (value := getattr(ruling, name)) is not None
    }
    return replace(ruling, **limits)


def _bounds(ruling: FieldRuling, value: object) -> dict[str, str]:
    """Return the attributes of a number's input. There are none for a value that is no number: the
    browser would not show it."""
    if isinstance(value, str) and value:
        return {}
    limits = {name: getattr(ruling, name) for name in ("min", "max", "step")}
    bounds = {name: str(limit) for name, limit in limits.items() if limit is not None}
    return {"step": "any", **bounds} if bounds else {}


def capture_rules(draft: WorkloadDraft, posted: Mapping[str, str]) -> None:
    """Store the rules that were chosen for the fields of a page."""
    rules = {rule.field: rule for rule in draft.rules or ()}
    for question in questions().values():
        name = f"rule-{question.name}"
        field = rule_path(question)
        if name not in posted or not may_have_rule(question):
            continue
        mode = posted[name]
        why = posted.get(f"{name}-why", "").strip()[:LONGEST]
        rules.pop(field, None)
        if mode in {REQUIRED, LOCKED, HIDDEN}:
            rules[field] = FieldRule(field=field, **{mode: True}, why=why)
    draft.rules = tuple(rules[field] for field in sorted(rules))


def _rule_mode(rule: FieldRule | None) -> str:
    if rule is None:
        return FREE
    if rule.hidden:
        return HIDDEN
    if rule.locked:
        return LOCKED
    return REQUIRED if rule.required else FREE
