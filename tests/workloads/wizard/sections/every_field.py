"""All rows of the table of fields, and how to put them into few drafts."""

from collections.abc import Iterable

from tests.documents import has
from tests.workloads.wizard.sections import (
    kind_fields,
    more_fields,
    pod_fields,
    probe_fields,
    source_fields,
    volume_fields,
)
from tests.workloads.wizard.sections.field_rows import FieldRow, Json, Posted, Script, whole

#: Fields on the first page of the wizard.
ON_PAGE_1 = {"kind", "framework", "architecture"}
ROWS = (
    *pod_fields.ROWS,
    *volume_fields.ROWS,
    *source_fields.ROWS,
    *more_fields.ROWS,
    *probe_fields.ROWS,
)


def of_use(kind: str) -> list[FieldRow]:
    """Return the rows that a cluster of this kind does not refuse.

    What only MPI and workspaces have is tested on Kubernetes here, and on others in their engines'
    tests.
    """
    rows = (*ROWS, *kind_fields.ROWS) if kind == "kubernetes" else ROWS
    return [row for row in rows if not row.is_refused_on(kind)]


def rounds(rows: Iterable[FieldRow]) -> list[tuple[Posted, list[FieldRow]]]:
    """Group rows that do not contradict each other. In a group, each field has one value, and each
    item is complete. Returns what is posted for each group, with its rows."""
    made: list[tuple[Posted, list[FieldRow]]] = []
    for row in rows:
        for entered, its in made:
            if all(entered.get(name, value) == value for name, value in row.posted.items()):
                entered |= row.posted
                its.append(row)
                break
        else:
            made.append(({**row.posted}, [row]))
    return [(whole(entered), its) for entered, its in made]


def arrived(documents: list[Json], part: Json | Script | str | None) -> bool:
    """Whether what an engine submits contains what a row says."""
    if isinstance(part, str):
        return part in "\n".join(str(it.get("text", "")) for it in documents)
    return part is None or has(documents, part)
