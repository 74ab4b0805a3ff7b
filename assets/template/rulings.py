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
    """Rulings by dotted path. If the template's master inherits, the rules of the workers also
    apply to a master that a draft sets up itself."""
    base = template.draft
    own: Rulings = {}
    for rule in base.rules or ():
        locked = rule.locked or rule.hidden
        source = f"template {template.name}"
        own[rule.field] = FieldRuling(locked, rule.required, rule.hidden, source, rule.why)
    if base.master:
        return own
    workers = {path: it for path, it in own.items() if path.startswith("worker.")}
    return {path.replace("worker", "master", 1): it for path, it in workers.items()} | own


def find_violations(
    template: Template, draft: WorkloadDraft, document: Values, *, others: Iterable[Problem]
) -> Iterator[Problem]:
    """Problems where the draft breaks the template's rulings. ``document`` is the draft merged with
    its assets. A field with one of the ``others`` is not also reported as missing."""
    base = template.draft
    said = {problem.field for problem in others}
    for field, ruling in rulings_of(template).items():
        if field.startswith("master.") and draft.master is None:
            continue
        path = tuple(field.split("."))
        given = value_of(draft, field)
        by = ruling.source
        if ruling.locked and given != value_of(base, field):
            message = f"is locked by {by}{ruling.reason}; leave it as the template has it"
            yield Problem(path, message, "locked", by)
        missing = given in EMPTY_VALUES and _value_at(document, field) in EMPTY_VALUES
        if ruling.required and missing and field not in said:
            yield Problem(path, f"is required by {by}{ruling.reason}", "required", by)


def value_of(draft: WorkloadDraft, field: str) -> Any:
    """The draft's own value of a field, or the id of the chosen asset."""
    head, _, key = field.partition(".")
    if head in {"worker", "master"} and key:
        replica = _replica(draft, head)
        return replica.assets[key] if key in replica.assets else _value_at(replica.given, key)
    return getattr(draft, head) if field in DRAFT_FIELDS else _value_at(draft.given, field)


def apply_template_value(draft: WorkloadDraft, template: Template, field: str) -> None:
    """Set a field to the template's value."""
    base = template.draft
    (head, _, key) = field.partition(".")
    if field in DRAFT_FIELDS:
        setattr(draft, field, getattr(base, field))
    elif head == "master" and draft.master is None:
        return
    elif head in {"worker", "master"} and key:
        ours = _replica(draft, head)
        theirs = _replica(base, head)
        rest = {kind: pk for kind, pk in ours.assets.items() if kind != key}
        ours.assets = rest | {kind: pk for kind, pk in theirs.assets.items() if kind == key}
        _set_value(ours.values, key, _value_at(theirs.values, key))
    else:
        _set_value(draft.values, field, _value_at(base.values, field))


def _replica(draft: WorkloadDraft, role: str) -> ReplicaDraft:
    return draft.master if role == "master" and draft.master else draft.worker


def _value_at(values: Values, path: str) -> Any:
    value: Any = values
    for step in path.split("."):
        value = value.get(step) if isinstance(value, dict) else None
    return value


def _set_value(values: Values, path: str, value: Any) -> None:
    """Set a value; an empty one is removed, together with parents that become empty."""
    head, _, rest = path.partition(".")
    if rest:
        inner = values.get(head)
        below = dict(inner) if isinstance(inner, dict) else {}
        _set_value(below, rest, value)
        value = below
    if value in EMPTY_VALUES:
        values.pop(head, None)
    else:
        values[head] = value
