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
from workloads.metrics.numbers import Stored, text_of_number
from workloads.models import Workload
from workloads.models.choices import architectures

GB = 1000**3
FIRST_INEXACT = 1e15  # a float below this has all digits of a whole number
FIRST_FIVE_DIGITS = 10_000
PLAIN_CELL = '<td data-label="{}">{}</td>'
NUMBER_CELL = '<td class="num" data-label="{}">{}</td>'
NAME_CELL = '<td class="named" data-label="{}">{}</td>'


class ColumnKind(Enum):
    """What a column contains, which decides the operators of its filters."""

    TEXT = "text"
    CHOICE = "choice"
    NUMBER = "number"
    DATE = "date"
    PLAIN = "plain"  # has no filters


@dataclass(frozen=True)
class Column:
    """A column of the table.

    ``text`` returns its value for the CSV file. The page shows that value, too, unless ``cell``
    names a richer cell. ``field`` is the database field; the table cannot be sorted by a column
    without one. The number in a filter is multiplied by ``unit``: 2 GB means 2e9 bytes.
    ``only_deleted`` marks columns that have values only for deleted workloads.
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
    only_deleted: bool = False

    @property
    def can_sort_by(self) -> bool:
        return self.sortable and bool(self.field)

    @property
    def can_filter_by(self) -> bool:
        return self.kind is not ColumnKind.PLAIN

    def render_cell(self, text: str) -> tuple[str, str]:
        """Return the name of the richer cell and its label, which the row's template renders.

        Most columns have no richer cell. For them the name is empty, and the second value is the
        complete cell as HTML.
        """
        if self.cell:
            return self.cell, self.label
        frame = CELLS.get(self.kind, PLAIN_CELL)
        return "", format_html(frame, self.label, text or "–")

    @property
    def is_numeric(self) -> bool:
        return self.kind is ColumnKind.NUMBER


def _format_time(value: datetime | None) -> str:
    return "" if value is None else value.astimezone(UTC).isoformat(timespec="seconds")


def _format_number(value: float) -> str:
    return f"{round(value, 4):g}"


def _allocated_gpus(workload: Workload) -> str:
    return _format_number(workload.gpus if workload.holds_resources else 0)


def _pod_counts(workload: Workload) -> str:
    """Return the number of running and of requested pods. A completed run shows ``3/3 done``,
    because ``0/3`` would look like a failure."""
    if workload.phase == Phase.COMPLETED:
        return f"{workload.num_pods}/{workload.num_pods} done"
    return f"{workload.running_pods}/{workload.num_pods}"


def _metrics_text(workload: Workload) -> str:
    return ", ".join(f"{name} {value}" for name, value in format_metrics(workload))


def format_metrics(
    workload: Workload, names: Iterable[str] = ("step", "loss")
) -> list[tuple[str, str]]:
    """Return pairs of name and value for those of the metrics that the training reports."""
    values = workload.last_metrics
    return [(name, format_figure(values[name])) for name in names if name in values]


def format_figure(value: Stored) -> str:
    """Return the number as text: a whole number with all its digits unless a float cannot hold
    them, any other number with at least four significant digits, NaN or ∞."""
    if isinstance(value, str):
        return text_of_number(value)
    is_exact = value == int(value) and abs(value) < FIRST_INEXACT
    # As 14,790.5 would become 1.479e+04, which nobody reads at a glance.
    is_large = FIRST_FIVE_DIGITS <= abs(value) < FIRST_INEXACT
    return f"{value:.0f}" if is_exact or is_large else f"{value:.4g}"


PHASES = tuple((phase.value, phase.value) for phase in Phase)
FRAMEWORKS = tuple((framework.value, framework.label) for framework in Framework)
ARCHITECTURES = tuple(architectures())
FAILURES = tuple(sorted((failure.id, failure.label) for failure in CLASSES))
CELLS = {ColumnKind.NUMBER: NUMBER_CELL, ColumnKind.TEXT: NAME_CELL}
TEXT = ColumnKind.TEXT
CHOICE = ColumnKind.CHOICE
NUMBER = ColumnKind.NUMBER
DATE = ColumnKind.DATE

COLUMNS: tuple[Column, ...] = (
    Column("name", "Workload", lambda w: w.name, TEXT, "name", cell="name", default=True),
    Column(
        "type",
        "Type",
        lambda w: Framework(w.framework).label if w.framework else WorkloadKind(w.kind).label,
        CHOICE,
        "framework",
        choices=FRAMEWORKS,
    ),
    Column(
        "status",
        "Status",
        lambda w: f"{w.phase}: {w.message}" if w.message else w.phase,
        CHOICE,
        "phase",
        cell="status",
        default=True,
        choices=PHASES,
    ),
    Column(
        "gpus",
        "GPU compute request",
        lambda w: _format_number(w.gpus),
        NUMBER,
        "gpus",
        default=True,
    ),
    Column(
        "failure",
        "Failure class",
        lambda w: BY_ID[w.failure_class].label if w.failure_class in BY_ID else "",
        CHOICE,
        "failure_class",
        choices=FAILURES,
        sortable=False,
    ),
    Column("project", "Project", lambda w: w.project.name, TEXT, "project__name", default=True),
    Column(
        "department",
        "Department",
        lambda w: w.project.department.name,
        TEXT,
        "project__department__name",
    ),
    Column(
        "creator",
        "Created by",
        lambda w: w.created_by.username if w.created_by else "",
        TEXT,
        "created_by__username",
        default=True,
    ),
    Column(
        "pods",
        "Running/requested pods",
        _pod_counts,
        NUMBER,
        "num_pods",
        default=True,
    ),
    Column("metrics", "Last metrics", _metrics_text, cell="metrics", default=True),
    Column(
        "created",
        "Creation time",
        lambda w: _format_time(w.created_at),
        DATE,
        "created_at",
        cell="created",
        default=True,
    ),
    Column(
        "completed",
        "Completion time",
        lambda w: _format_time(w.completed_at),
        DATE,
        "completed_at",
        cell="completed",
    ),
    Column("image", "Environment image", lambda w: w.image, TEXT, "image", cell="image"),
    Column(
        "architecture",
        "Workload architecture",
        lambda w: dict(ARCHITECTURES).get(w.architecture, w.architecture),
        CHOICE,
        "architecture",
        choices=ARCHITECTURES,
        sortable=False,
    ),
    Column("gpus_allocated", "GPU compute allocation", _allocated_gpus),
    Column(
        "cpu",
        "CPU compute request",
        lambda w: _format_number(w.cpu_cores),
        NUMBER,
        "cpu_cores",
        unit_name="cores",
    ),
    Column(
        "memory",
        "CPU memory request",
        lambda w: format_bytes(w.memory_bytes),
        NUMBER,
        "memory_bytes",
        unit=GB,
        unit_name="GB",
    ),
    Column("cluster", "Cluster", lambda w: w.cluster.name, TEXT, "cluster__name"),
    Column(
        "template",
        "Template",
        lambda w: w.template.name if w.template else "",
        TEXT,
        "template__name",
    ),
    Column(
        "pending",
        "Total pending time",
        lambda w: duration(w.pending_total),
        NUMBER,
        "pending_seconds",
        unit_name="seconds",
    ),
    Column(
        "runtime",
        "Total runtime",
        lambda w: duration(w.running_total),
        NUMBER,
        "running_seconds",
        default=True,
        unit_name="seconds",
    ),
    Column(
        "deleted",
        "Deletion time",
        lambda w: _format_time(w.deleted_at),
        field="deleted_at",
        cell="deleted",
        only_deleted=True,
    ),
    Column(
        "kept", "Kept until", lambda w: _format_time(w.removal_time), cell="kept", only_deleted=True
    ),
)
BY_KEY = {column.key: column for column in COLUMNS}
DEFAULT = tuple(column for column in COLUMNS if column.default)
DEFAULT_DELETED = tuple(
    BY_KEY[key] for key in "name status project creator metrics runtime deleted kept".split()
)
