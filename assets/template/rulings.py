"""What a template decides about fields, and whether a draft complies."""

from collections.abc import Iterable, Iterator
from typing import Any

from assets.template.model import Template
from spec.draft import ReplicaDraft, Values, WorkloadDraft
from spec.problems.errors import Problem
from spec.problems.rulings import FieldRuling

Rulings = dict[str, FieldRuling]
DRAFT_FIELDS = ("kind", "framework", "architecture")  # values that a draft has as fields of its own
EMPTY_VALUES: tuple[object, ...] = (None, "", [], {})


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
        rulings[rule.field] = FieldRuling(locked, rule.required, rule.hidden, source, rule.why)
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
    base = template.draft
    reported_fields = {problem.field for problem in others}
    for field, ruling in rulings_of(template).items():
        if field.startswith("master.") and draft.master is None:
            continue
        path = tuple(field.split("."))
        value = value_of(draft, field)
        source = ruling.source
        if ruling.locked and value != value_of(base, field):
            message = f"is locked by {source}{ruling.reason}; leave the template's value"
            yield Problem(path, message, "locked", source)
        missing = value in EMPTY_VALUES and _value_at(document, field) in EMPTY_VALUES
        if ruling.required and missing and field not in reported_fields:
            yield Problem(path, f"is required by {source}{ruling.reason}", "required", source)


def value_of(draft: WorkloadDraft, field: str) -> Any:
    """Return the draft's own value of a field, or the id of the chosen asset."""
    head, _, key = field.partition(".")
    if head in {"worker", "master"} and key:
        replica = _replica(draft, head)
        return (
            replica.assets[key] if key in replica.assets else _value_at(replica.filled_values, key)
        )
    return getattr(draft, head) if field in DRAFT_FIELDS else _value_at(draft.filled_values, field)


def apply_template_value(draft: WorkloadDraft, template: Template, field: str) -> None:
    """Set a field of the draft to the template's value."""
    base = template.draft
    head, _, key = field.partition(".")
    if field in DRAFT_FIELDS:
        setattr(draft, field, getattr(base, field))
    elif head == "master" and draft.master is None:
        return
    elif head in {"worker", "master"} and key:
        replica = _replica(draft, head)
        base_replica = _replica(base, head)
        other_assets = {kind: pk for kind, pk in replica.assets.items() if kind != key}
        replica.assets = other_assets | {
            kind: pk for kind, pk in base_replica.assets.items() if kind == key
        }
        _set_value(replica.values, key, _value_at(base_replica.values, key))
    else:
        _set_value(draft.values, field, _value_at(base.values, field))


def _replica(draft: WorkloadDraft, role: str) -> ReplicaDraft:
    return draft.master if role == "master" and draft.master else draft.worker


def _value_at(values: Values, path: str) -> Any:
    value: Any = values
    for key in path.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _set_value(values: Values, path: str, value: Any) -> None:
    """Set a value; an empty one is removed, together with parents that become empty."""
    head, _, rest = path.partition(".")
    if rest:
        parent = values.get(head)
        nested_values = dict(parent) if isinstance(parent, dict) else {}
        _set_value(nested_values, rest, value)
        value = nested_values
    if value in EMPTY_VALUES:
        values.pop(head, None)
    else:
        values[head] = value
