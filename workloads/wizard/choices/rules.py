"""Ask for the rules of a template while it is edited, and show and enforce them in a draft that
uses the template."""

from collections.abc import Mapping

from assets.template import rulings
from core.forms.field import Option
from core.forms.shown import ShownField, ShownRule
from spec.draft import FieldRule, WorkloadDraft
from workloads.plan import Plan
from workloads.wizard.sections.base import Question
from workloads.wizard.sections.table import questions

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


def show_rule(shown: ShownField, question: Question, plan: Plan) -> None:
    """Show the rule of the template that a draft uses. While a template is edited, show the choice
    of the rule instead."""
    field = rule_path(question)
    if plan.draft.is_template and may_have_rule(question):
        rule = next((rule for rule in plan.draft.rules or () if rule.field == field), None)
        why = rule.why if rule else ""
        shown.rule = ShownRule(f"rule-{question.name}", _rule_mode(rule), why, OPTIONS)
    elif (ruling := plan.rulings.get(field)) and plan.template:
        shown.ruling = ruling.sentence
        template_value = rulings.value_of(plan.template.draft, field)
        shown.locked = ruling.locked and rulings.value_of(plan.draft, field) == template_value
        shown.strayed = ruling.locked and not shown.locked


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
