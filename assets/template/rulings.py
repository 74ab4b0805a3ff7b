"""What a template decides about fields, and whether a draft complies."""

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

from assets.template.model import Template
from core.forms import nested
from policies.evaluation import Judge
from policies.fields import MASTER, WORKER
from policies.rules import Enforcement, Rule, RuleSource
from spec.draft import ReplicaDraft, Values, WorkloadDraft
from spec.problems.errors import Problem
from spec.problems.rulings import FieldRuling

Rulings = dict[str, FieldRuling]
DRAFT_FIELDS = ("kind", "framework", "architecture")  # values that a draft has as fields of its own


def rulings_of(template: Template) -> Rulings:
    """Return the rulings of a template by dotted path.

    If the template's master has the values of its workers, the rules of the workers also apply to
    a master that a draft sets up itself.
    """
    base = template.draft
    rulings: Rulings = {}
    for rule in base.rules or ():
        locked = rule.locked or rule.hidden
        source = f"template {template.name}"
        rulings[rule.field] = FieldRuling(
            locked, rule.required, rule.hidden, source=source, why=rule.why
        )
    if base.master:
        return rulings
    workers = {path: ruling for path, ruling in rulings.items() if path.startswith("worker.")}
    return {
        path.replace("worker", "master", 1): ruling for path, ruling in workers.items()
    } | rulings


def find_violations(
    template: Template, draft: WorkloadDraft, document: Values, *, others: Iterable[Problem]
) -> Iterator[Problem]:
    """Yield a problem for each ruling of the template that the draft breaks.

    ``document`` is the draft merged with its assets. A field that has one of the ``others`` is not
    reported as missing, too.
    """
    judge = Judge(
        _rules_of(template),
        read_given=partial(value_of, draft),
        read_loaded=partial(nested.get, document),
        reported=[problem.field for problem in others],
    )
    for problem in judge.find_violations():
        if problem.path[0] != MASTER or draft.master is not None:
            yield problem


def _rules_of(template: Template) -> Iterator[Rule]:
    """Yield the rules of a template as a policy has them: a locked field keeps the value that it
    has in the template."""
    base = template.draft
    for field, ruling in rulings_of(template).items():
        source = RuleSource(ruling.source)
        if ruling.locked:
            yield Rule(field, Enforcement.DEFAULT, value_of(base, field), source=source)
            yield Rule(field, Enforcement.CAN_EDIT, False, why=ruling.why, source=source)
        if ruling.required:
            yield Rule(field, Enforcement.REQUIRED, True, why=ruling.why, source=source)


def value_of(draft: WorkloadDraft, field: str) -> Any:
    """Return the draft's own value of a field, or the id of the chosen asset."""
    head, _, key = field.partition(".")
    if head in {WORKER, MASTER} and key:
        replica = _replica(draft, head)
        return (
            replica.assets[key] if key in replica.assets else nested.get(replica.filled_values, key)
        )
    return getattr(draft, head) if field in DRAFT_FIELDS else nested.get(draft.filled_values, field)


def apply_template_value(draft: WorkloadDraft, template: Template, field: str) -> None:
    """Set a field of the draft to the template's value."""
    base = template.draft
    head, _, key = field.partition(".")
    if field in DRAFT_FIELDS:
        setattr(draft, field, getattr(base, field))
    elif head == MASTER and draft.master is None:
        return
    elif head in {WORKER, MASTER} and key:
        replica = _replica(draft, head)
        base_replica = _replica(base, head)
        other_assets = {kind: pk for kind, pk in replica.assets.items() if kind != key}
        replica.assets = other_assets | {
            kind: pk for kind, pk in base_replica.assets.items() if kind == key
        }
        _set_value(replica.values, key, nested.get(base_replica.values, key))
    else:
        _set_value(draft.values, field, nested.get(base.values, field))


def _replica(draft: WorkloadDraft, role: str) -> ReplicaDraft:
    return draft.master if role == MASTER and draft.master else draft.worker


def _set_value(values: Values, path: str, value: Any) -> None:
    """Set a value; an empty one is removed, together with parents that become empty."""
    head, _, rest = path.partition(".")
    if rest:
        parent = values.get(head)
        nested_values = dict(parent) if isinstance(parent, dict) else {}
        _set_value(nested_values, rest, value)
        value = nested_values
    if value in nested.EMPTY:
        values.pop(head, None)
    else:
        values[head] = value
