"""What migrations do to stored specs."""

from collections.abc import Callable
from typing import Any

from django.apps.registry import Apps
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

AT_ONCE = 500
Json = dict[str, Any]


def change(apps: Apps, editor: BaseDatabaseSchemaEditor, amend: Callable[[Json], bool]) -> None:
    """``amend`` changes a spec and says whether it did."""
    rows = apps.get_model("workloads", "Workload").objects.using(editor.connection.alias)
    changed = []
    for workload in rows.only("spec_json").iterator(chunk_size=AT_ONCE):
        if isinstance(workload.spec_json, dict) and amend(workload.spec_json):
            changed.append(workload)
        if len(changed) == AT_ONCE:
            rows.bulk_update(changed, ["spec_json"])
            changed = []
    rows.bulk_update(changed, ["spec_json"])


def note(spec: Json, field: str, value: Any = None) -> bool:
    """What holds where nobody set ``field``, where the spec says nothing of it."""
    if field in spec:
        return False
    spec[field] = value
    return True
