"""From what a browser posted to the draft. Nothing is judged here: wrong answers are kept too."""

import re
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.http import QueryDict

from accounts.models import User
from assets.forms.rows import variable
from assets.models import Template
from spec.draft import ReplicaDraft, Values, WorkloadDraft
from spec.environment import Environment
from workloads.forms import cells, nested
from workloads.forms.durations import to_seconds
from workloads.forms.fields import BY_NAME, replica_of
from workloads.forms.kinds import Field, Kind

#: What the wizard asks of a replica itself.
ASKED = {
    "command",
    "args",
    "workingDir",
    "environmentVariables",
    "labels",
    "annotations",
    "compute",
}
#: Came with a copied workload, and gives way to the environment that is chosen instead.
FROM_ENVIRONMENT = {field.alias for field in Environment.model_fields.values()} - ASKED
DIFFERENT = "master-different"
OWN = "own"  # the choice to keep what came with a copied workload
MOST_ROWS = 200
WHOLE = re.compile(r"^[+-]?[0-9]{1,12}$")


def capture(draft: WorkloadDraft, posted: QueryDict, *, by: User) -> set[str]:
    """Write every posted field into the draft; returns the names of the fields it knows."""
    if DIFFERENT in posted:
        _differ(draft, different=posted[DIFFERENT] == "on")
    seen = set()
    for name, field in BY_NAME.items():
        if name in posted:
            seen.add(name)
            _write(draft, field, posted, by)
    return seen


def text(posted: Mapping[str, str], name: str) -> str:
    """One answer. NUL has no place in any text, and PostgreSQL refuses to keep it."""
    return posted.get(name, "").replace("\0", "").replace("\r\n", "\n").strip()


def _differ(draft: WorkloadDraft, *, different: bool) -> None:
    """A master of its own begins as the workers are."""
    if not different:
        draft.master = None
    elif draft.master is None:
        draft.master = draft.worker.model_copy(deep=True)


def _write(draft: WorkloadDraft, field: Field, posted: QueryDict, by: User) -> None:
    if field.role:
        replica = replica_of(draft, field.role)
        if replica is not None:
            _write_replica(replica, field, posted)
    elif field.kind is Kind.CHOICE or field.key == "name":
        _write_whole(draft, field.key, text(posted, field.name), by)
    else:
        _put(draft.values, field, posted)


def _write_whole(draft: WorkloadDraft, key: str, value: str, by: User) -> None:
    if key == "cluster":
        chosen = _uuid(value)
        if chosen != draft.cluster:
            draft.cluster, draft.project = chosen, None
    elif key == "project":
        draft.project = int(value) if WHOLE.match(value) else None
    elif key == "template":
        start_from(draft, _uuid(value), by=by)
    else:
        setattr(draft, key, value)


def start_from(draft: WorkloadDraft, template: UUID | None, *, by: User) -> None:
    """Take a template's answers; back to scratch drops them. The name and place stay."""
    if template == draft.template:
        return
    found = Template.objects.visible_to(by).filter(pk=template).first() if template else None
    base = found.draft if found else WorkloadDraft(values={"numWorkers": 1})
    draft.template = found.pk if found else None
    draft.worker, draft.master, draft.values = base.worker, base.master, base.values
    draft.framework, draft.architecture = base.framework, base.architecture


def _write_replica(replica: ReplicaDraft, field: Field, posted: QueryDict) -> None:
    if field.kind is not Kind.CHOICE:
        _put(replica.values, field, posted)
        return
    value = text(posted, field.name)
    if value == OWN:
        return
    setattr(replica, field.key, _uuid(value))
    if field.key == "compute":
        replica.values.pop("compute", None)
    else:
        replica.values = {k: v for k, v in replica.values.items() if k not in FROM_ENVIRONMENT}


def _value(field: Field, posted: QueryDict) -> Any:
    if field.kind is Kind.ROWS:
        return _rows(field.name, posted)
    value = text(posted, field.name)
    if field.kind is Kind.WHOLE and WHOLE.match(value):
        return int(value)
    if field.kind is Kind.DURATION and value:
        return to_seconds(value, posted.get(f"{field.name}-unit", "sec"))
    return value


def _rows(name: str, posted: QueryDict) -> list[Values]:
    """Rows in the order of their numbers, blank ones too: the page shows them by position."""
    return [_row(f"{name}-{number}", posted) for number in _numbers(name, "name", posted)]


def _row(prefix: str, posted: QueryDict) -> Values:
    value = posted.get(f"{prefix}-value", "").replace("\0", "")
    source, key = posted.get(f"{prefix}-source", ""), text(posted, f"{prefix}-key")
    return variable(text(posted, f"{prefix}-name"), source, value, key)


def _numbers(name: str, part: str, posted: QueryDict) -> list[int]:
    pattern = re.compile(rf"^{re.escape(name)}-([0-9]{{1,4}})-{part}$")
    found = sorted(int(found[1]) for key in posted if (found := pattern.match(key)))
    return found[:MOST_ROWS]


def _items(field: Field, posted: QueryDict) -> list[Any]:
    """Items in the order of their numbers; each says with ``-rest`` that it is there."""
    numbers = _numbers(field.name, "rest", posted)
    return [cells.read(field, f"{field.name}-{number}", posted) for number in numbers]


def _put(values: Values, field: Field, posted: QueryDict) -> None:
    if field.kind is Kind.ITEMS:
        put_items(values, field, _items(field, posted))
    else:
        nested.put(values, field.key, _value(field, posted))


def put_items(values: Values, field: Field, items: list[Any]) -> None:
    """Put the field's items where its old ones stood; those of another field keep their place."""
    new, whole = list(items), []
    for old in nested.items(values, field.key):
        if not field.holds(old):
            whole.append(old)
        elif new:
            whole.append(new.pop(0))
    nested.put(values, field.key, [*whole, *new])


def _uuid(value: str) -> UUID | None:
    try:
        return UUID(value)
    except ValueError:
        return None
