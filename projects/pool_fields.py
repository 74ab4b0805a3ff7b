"""The fields of the quotas in node pools other than the default one, for the forms of projects and
departments."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict
from pydantic import Field as Limits

from core.forms.field import Field, Input, Values
from core.forms.shown import ShownField
from projects.pool_quotas import DEFAULT_WEIGHT, DepartmentQuotaColumns, ProjectQuotaColumns
from projects.ranks import RANKS
from spec.part import Flag, Number
from spec.parts.scheduling import PriorityClass

BYTES_PER_GB = 1_000_000_000
MAX_QUOTA = 1e9  # in GB; more bytes would not fit into a column
QuotaAmount = Annotated[Number, Limits(le=MAX_QUOTA)]
SUM_OF_PROJECTS = "Sum of its projects"
RANK_HINT = (
    "Where Trainyard or KAI decides what starts: of workloads with an equal claim, those of the "
    "higher rank go first."
)


class QuotaValues(BaseModel):
    """The typed values of a quota in one node pool. Memory is in GB, and ``None`` is no value."""

    model_config = ConfigDict(frozen=True)

    gpu_quota: QuotaAmount | None = None
    cpu_quota: QuotaAmount | None = None
    memory_quota: QuotaAmount | None = None
    gpu_limit: QuotaAmount | None = None
    over_quota: Flag = False
    over_quota_weight: QuotaAmount | None = None

    def columns(self) -> dict[str, Any]:
        """Return the values by column, with memory in bytes."""
        memory = None if self.memory_quota is None else round(self.memory_quota * BYTES_PER_GB)
        columns = {name: getattr(self, name) for name in QuotaValues.model_fields}
        return columns | {"memory_quota": memory}


class ProjectQuotaValues(QuotaValues):
    rank: PriorityClass = PriorityClass.MEDIUM_LOW

    def columns(self) -> dict[str, Any]:
        weight = self.over_quota_weight
        return super().columns() | {
            "gpu_quota": self.gpu_quota or 0.0,
            "over_quota_weight": DEFAULT_WEIGHT if weight is None else weight,
            "rank": self.rank,
        }


def department_fields(prefix: str = "") -> tuple[Field, ...]:
    """Return the fields of a department's quota, whose keys begin with ``prefix``."""
    hint = (
        "Its projects may use what other departments leave idle. Otherwise they never hold more "
        "than the department's quota together."
    )
    return (
        *_amount_fields(prefix, SUM_OF_PROJECTS, SUM_OF_PROJECTS),
        Field(f"{prefix}over_quota", "Over-quota", Input.FLAG, hint),
        *_limit_fields(prefix, SUM_OF_PROJECTS),
    )


def project_fields(prefix: str = "") -> tuple[Field, ...]:
    """Return the fields of a project's quota, whose keys begin with ``prefix``."""
    hint = "May use what others leave idle, and returns it when they need it."
    return (
        *_amount_fields(prefix, "0", "Unlimited"),
        Field(f"{prefix}over_quota", "Over-quota", Input.FLAG, hint),
        Field(f"{prefix}rank", "Rank", Input.SELECT, RANK_HINT, options=RANKS),
        *_limit_fields(prefix, f"{DEFAULT_WEIGHT:g}"),
    )


def _amount_fields(prefix: str, gpus: str, others: str) -> Iterator[Field]:
    """Yield the fields of the amounts, with what empty ones mean."""
    rows = (
        ("gpu_quota", "GPU quota", "In GPUs; 0.5 is half of one.", gpus),
        ("cpu_quota", "CPU quota", "In cores.", others),
        ("memory_quota", "CPU memory quota", "In GB.", others),
    )
    for key, label, hint, empty in rows:
        yield Field(f"{prefix}{key}", label, Input.NUMBER, hint, placeholder=empty)


def _limit_fields(prefix: str, weight: str) -> Iterator[Field]:
    """Yield the fields of what is beyond the quota, with what an empty weight means."""
    yield Field(
        f"{prefix}gpu_limit",
        "Max GPU allocation",
        Input.NUMBER,
        "The most GPUs, in the quota and beyond it. Without over-quota that is the quota.",
        placeholder="Unlimited",
    )
    yield Field(
        f"{prefix}over_quota_weight",
        "Over-quota weight",
        Input.NUMBER,
        "With KAI, the share of what others leave idle: 2 is twice as much as 1.",
        placeholder=weight,
    )


def initial_quota(row: ProjectQuotaColumns | DepartmentQuotaColumns) -> Values:
    """Return the initial values of the fields."""
    memory = row.memory_quota
    weight = row.over_quota_weight
    values: Values = {
        "gpu_quota": without_decimals(row.gpu_quota),
        "cpu_quota": without_decimals(row.cpu_quota),
        "memory_quota": None if memory is None else without_decimals(memory / BYTES_PER_GB),
        "gpu_limit": without_decimals(row.gpu_limit),
        "over_quota": row.over_quota,
        "over_quota_weight": without_decimals(weight),
    }
    if isinstance(row, ProjectQuotaColumns):
        values["rank"] = row.rank
        values["over_quota_weight"] = None if weight == DEFAULT_WEIGHT else without_decimals(weight)
    return values


def without_decimals(quota: float | None) -> float | int | None:
    """Return a whole number as an int, so that its field shows ``8`` and not ``8.0``."""
    return int(quota) if quota is not None and quota == int(quota) else quota


@dataclass(frozen=True)
class ShownPool:
    """The quota in a node pool as the form shows it: its fields by key, and the quota in words."""

    name: str
    fields: Mapping[str, ShownField]

    @property
    def summary(self) -> str:
        gpus = self.fields["gpu_quota"].value
        limit = self.fields["gpu_limit"].value
        words = f"{gpus} GPU{'' if gpus == '1' else 's'}" if gpus else ""
        return ", ".join(filter(None, [words, f"at most {limit}" if limit else ""]))

    @property
    def has_errors(self) -> bool:
        return any(shown.errors for shown in self.fields.values())
