"""The columns of the workloads table: what each shows, and the database field that it is sorted and
filtered by."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum

from django.utils.html import format_html

from core.templatetags.core import duration
from spec.framework import Framework
from spec.kind import WorkloadKind
from spec.phases import Phase
from spec.values.quantities import format_bytes
from workloads.diagnosis import BY_ID, CLASSES
from workloads.models import Workload
from workloads.models.choices import architectures

GB = 1000**3
EXACT = 1e15  # whole numbers below have all their digits
PLAIN_CELL = '<td data-label="{}">{}</td>'
NUMBER_CELL = '<td class="num" data-label="{}">{}</td>'
NAME_CELL = '<td class="named" data-label="{}">{}</td>'


class ColumnKind(Enum):
    """What a column contains, which decides the operators of its filters."""

    TEXT = "text"
    CHOICE = "choice"
    NUMBER = "number"
    DATE = "date"
    PLAIN = "plain"  # shown only


@dataclass(frozen=True)
class Column:
    """A column. ``text`` is its value in the CSV file, and on the page unless ``cell`` names a
    richer cell.

    ``field`` is the database field; a column without one cannot be sorted by. The number in a
    filter is multiplied by ``unit``: 2 GB means 2e9 bytes. ``of_deleted`` marks columns that are
    empty for workloads which are not deleted.
    """

    key: str
    label: str
    text: Callable[[Workload], str]
    kind: ColumnKind = ColumnKind.PLAIN
    field: str = ""
    cell: str = ""
    default: bool = False
    choices: tuple[tuple[str, str], ...] = ()
    unit: int = 1
    unit_name: str = ""
    sortable: bool = True
    of_deleted: bool = False

    @property
    def sorts(self) -> bool:
        return self.sortable and bool(self.field)

    @property
    def filters(self) -> bool:
        return self.kind is not ColumnKind.PLAIN

    def drawn(self, text: str) -> tuple[str, str]:
        """The name of the richer cell and its label, for the row's template to draw it; or, as for
        most columns, no name and the complete cell."""
        if self.cell:
            return self.cell, self.label
        frame = CELLS.get(self.kind, PLAIN_CELL)
        return "", format_html(frame, self.label, text or "–")

    @property
    def numeric(self) -> bool:
        return self.kind is ColumnKind.NUMBER


def _moment(value: datetime | None) -> str:
    return "" if value is None else value.astimezone(UTC).isoformat(timespec="seconds")


def _number(value: float) -> str:
    return f"{round(value, 4):g}"


def _allocated(workload: Workload) -> str:
    return _number(workload.gpus if workload.holds else 0)


def _pods(workload: Workload) -> str:
    """Running of requested pods. A completed run shows ``3/3 done``, as ``0/3`` would look like a
    failure."""
    if workload.phase == Phase.COMPLETED:
        return f"{workload.num_pods}/{workload.num_pods} done"
    return f"{workload.running_pods}/{workload.num_pods}"


def _metrics(workload: Workload) -> str:
    return ", ".join(f"{name} {value}" for name, value in shown_metrics(workload))


def shown_metrics(
    workload: Workload, names: Iterable[str] = ("step", "loss")
) -> list[tuple[str, str]]:
    """The few metrics that a row has room for, by name, if the training reports them."""
    last = workload.last_metrics
    return [(name, figure(last[name])) for name in names if name in last]


def figure(value: float) -> str:
    """The number as text: whole numbers exactly, unless they have more digits than are known;
    others with four significant digits."""
    is_exact = value == int(value) and abs(value) < EXACT
    return f"{value:.0f}" if is_exact else f"{value:.4g}"


def _of(kind: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    return tuple(kind)


PHASES = _of((p.value, p.value) for p in Phase)
FRAMEWORKS = _of((f.value, f.label) for f in Framework)
ARCHITECTURES = _of(architectures())
CELLS = {ColumnKind.NUMBER: NUMBER_CELL, ColumnKind.TEXT: NAME_CELL}
FAILURES = _of(sorted((one.id, one.label) for one in CLASSES))
T = ColumnKind.TEXT
C = ColumnKind.CHOICE
N = ColumnKind.NUMBER
D = ColumnKind.DATE

COLUMNS: tuple[Column, ...] = (
    Column("name", "Workload", lambda w: w.name, T, "name", cell="name", default=True),
    Column(
        "type",
        "Type",
        lambda w: Framework(w.framework).label if w.framework else WorkloadKind(w.kind).label,
        C,
        "framework",
        choices=FRAMEWORKS,
    ),
    Column(
        "status",
        "Status",
        lambda w: f"{w.phase}: {w.message}" if w.message else w.phase,
        C,
        "phase",
        cell="status",
        default=True,
        choices=PHASES,
    ),
    Column("gpus", "GPU compute request", lambda w: _number(w.gpus), N, "gpus", default=True),
    Column(
        "failure",
        "Failure class",
        lambda w: BY_ID[w.failure_class].label if w.failure_class in BY_ID else "",
        C,
        "failure_class",
        choices=FAILURES,
        sortable=False,
    ),
    Column("project", "Project", lambda w: w.project.name, T, "project__name", default=True),
    Column(
        "department",
        "Department",
        lambda w: w.project.department.name,
        T,
        "project__department__name",
    ),
    Column(
        "creator",
        "Created by",
        lambda w: w.created_by.username if w.created_by else "",
        T,
        "created_by__username",
        default=True,
    ),
    Column(
        "pods",
        "Running/requested pods",
        _pods,
        N,
        "num_pods",
        default=True,
    ),
    Column("metrics", "Last metrics", _metrics, cell="metrics", default=True),
    Column(
        "created",
        "Creation time",
        lambda w: _moment(w.created_at),
        D,
        "created_at",
        cell="created",
        default=True,
    ),
    Column(
        "completed",
        "Completion time",
        lambda w: _moment(w.completed_at),
        D,
        "completed_at",
        cell="completed",
    ),
    Column("image", "Environment image", lambda w: w.image, T, "image", cell="image"),
    Column(
        "architecture",
        "Workload architecture",
        lambda w: dict(ARCHITECTURES).get(w.architecture, w.architecture),
        C,
        "architecture",
        choices=ARCHITECTURES,
        sortable=False,
    ),
    Column("gpus_allocated", "GPU compute allocation", _allocated),
    Column(
        "cpu",
        "CPU compute request",
        lambda w: _number(w.cpu_cores),
        N,
        "cpu_cores",
        unit_name="cores",
    ),
    Column(
        "memory",
        "CPU memory request",
        lambda w: format_bytes(w.memory_bytes),
        N,
        "memory_bytes",
        unit=GB,
        unit_name="GB",
    ),
    Column("cluster", "Cluster", lambda w: w.cluster.name, T, "cluster__name"),
    Column(
        "template", "Template", lambda w: w.template.name if w.template else "", T, "template__name"
    ),
    Column(
        "pending",
        "Total pending time",
        lambda w: duration(w.pending_total),
        N,
        "pending_seconds",
        unit_name="seconds",
    ),
    Column(
        "runtime",
        "Total runtime",
        lambda w: duration(w.running_total),
        N,
        "running_seconds",
        default=True,
        unit_name="seconds",
    ),
    Column(
        "deleted",
        "Deletion time",
        lambda w: _moment(w.deleted_at),
        field="deleted_at",
        cell="deleted",
        of_deleted=True,
    ),
    Column("kept", "Kept until", lambda w: _moment(w.kept_until), cell="kept", of_deleted=True),
)
BY_KEY = {column.key: column for column in COLUMNS}
DEFAULT = tuple(column for column in COLUMNS if column.default)
DEFAULT_DELETED = tuple(
    BY_KEY[key] for key in "name status project creator metrics runtime deleted kept".split()
)
