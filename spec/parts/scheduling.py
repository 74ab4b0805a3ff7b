"""Where pods may run, and before whom. Fields are those of Run:ai's REST API."""

from enum import StrEnum
from typing import Annotated, Self

from pydantic import Field, model_validator

from spec.part import Part, Whole
from spec.values.patterns import LABEL_KEY, LABEL_VALUE, POOL_NAME, QUEUE_NAME

Key = Annotated[str, Field(min_length=1, max_length=317, pattern=LABEL_KEY)]
LabelValue = Annotated[str, Field(max_length=63, pattern=LABEL_VALUE)]
PoolName = Annotated[str, Field(min_length=1, max_length=63, pattern=POOL_NAME)]
#: The value of a label, which is shorter than the name of an object may be.
QueueName = Annotated[str, Field(min_length=1, max_length=63, pattern=QUEUE_NAME)]
MAX_POOLS = 32
DEFAULT_POOL = "default"  # of the nodes that are in no other pool
NODE_TYPE = "run.ai/type"  # the label of a node that says its type


class PriorityClass(StrEnum):
    """The priority of a workload among those of its project, or of a project among those of its
    cluster, the lowest first."""

    VERY_LOW = "very-low"
    LOW = "low"
    MEDIUM_LOW = "medium-low"
    MEDIUM = "medium"
    MEDIUM_HIGH = "medium-high"
    HIGH = "high"
    VERY_HIGH = "very-high"

    @property
    def label(self) -> str:
        return self.value.replace("-", " ").capitalize()

    @property
    def level(self) -> int:
        """A number from 0; the higher one goes first."""
        return list(PriorityClass).index(self)

    @property
    def value_on_cluster(self) -> int:
        """Run:ai's numbers for these names."""
        return dict(zip(PriorityClass, (25, 40, 65, 80, 90, 125, 150), strict=True))[self]


class Preemptibility(StrEnum):
    """Whether a workload may be taken back for one with a better claim: as a whole, not at all, or
    what it has beyond its minimum of workers."""

    PREEMPTIBLE = "preemptible"
    NON_PREEMPTIBLE = "non-preemptible"
    SEMI_PREEMPTIBLE = "semi-preemptible"

    @property
    def label(self) -> str:
        return self.value.capitalize()


class Effect(StrEnum):
    NO_SCHEDULE = "NoSchedule"
    NO_EXECUTE = "NoExecute"
    PREFER_NO_SCHEDULE = "PreferNoSchedule"
    ANY = "Any"


class TolerationOperator(StrEnum):
    EQUAL = "Equal"
    EXISTS = "Exists"


class Toleration(Part):
    """A taint of nodes that does not keep the pods away. ``seconds`` limits how long they stay on a
    node that gets it, for the effect NoExecute.

    Equal without a value means a taint whose value is empty, as many have.
    """

    name: str = Field("", max_length=63, description="The name")
    key: Key = Field(description="The name of the taint")
    operator: TolerationOperator = Field(
        TolerationOperator.EQUAL, description="Equal compares the value; Exists tolerates any"
    )
    value: LabelValue | None = Field(None, description="The value of the taint")
    effect: Effect = Field(Effect.ANY, description="The effect of the taint; any if it is null")
    seconds: Whole | None = Field(
        None,
        ge=1,
        le=2**31 - 1,
        description=(
            "How many seconds a pod stays on a node that gets the taint; for good if it is null"
        ),
    )

    @model_validator(mode="after")
    def _fields_agree(self) -> Self:
        if self.value and self.operator is not TolerationOperator.EQUAL:
            raise ValueError("value: is only allowed with the operator Equal")
        if self.seconds is not None and self.effect is not Effect.NO_EXECUTE:
            raise ValueError("seconds: is only allowed with the effect NoExecute")
        return self


class Operator(StrEnum):
    IN = "In"
    NOT_IN = "NotIn"
    EXISTS = "Exists"
    DOES_NOT_EXIST = "DoesNotExist"
    GT = "Gt"
    LT = "Lt"


class Expression(Part):
    """A condition for one label of a node, such as ``gpu-type`` ``In`` ``a100, h100``."""

    key: Key = Field(description="The name of the label")
    operator: Operator = Field(description="How the label is compared with the values")
    values: tuple[LabelValue, ...] = Field(
        (), description="The values to compare with; none for Exists and DoesNotExist"
    )

    @model_validator(mode="after")
    def _values_fit(self) -> Self:
        number = self.operator in {Operator.GT, Operator.LT}
        if number and not (
            len(self.values) == 1 and self.values[0].isascii() and self.values[0].isdigit()
        ):
            raise ValueError(f"values: {self.operator} compares with exactly one whole number")
        if self.operator in {Operator.IN, Operator.NOT_IN} and not self.values:
            raise ValueError(f"values: {self.operator} needs at least one value")
        if self.operator in {Operator.EXISTS, Operator.DOES_NOT_EXIST} and self.values:
            raise ValueError(f"values: {self.operator} takes no values")
        return self


class Term(Part):
    """It matches nodes for which all of its expressions are true."""

    match_expressions: tuple[Expression, ...] = Field(
        min_length=1, description="Conditions on the labels of the node, all of which must be met"
    )


class NodeAffinity(Part):
    """Pods go only to nodes that at least one of the terms matches."""

    node_selector_terms: tuple[Term, ...] = Field(
        min_length=1, description="The terms, one of which must match"
    )


class Strictness(StrEnum):
    REQUIRED = "Required"
    PREFERRED = "Preferred"


class PodAffinity(Part):
    """All pods of the workload go to nodes with the same value of the label ``key``, such as those
    of one zone."""

    type: Strictness = Field(description="Whether it is required or preferred")
    key: Key = Field(description="The label of nodes that defines what is near: zone, rack or host")


class Topology(Part):
    """How close together the pods are placed, by levels of a network topology of the cluster, such
    as racks.

    ``name`` is that of a ``Topology`` object of the KAI scheduler; a level is a node label.
    """

    name: str = Field(
        min_length=1,
        max_length=63,
        pattern=POOL_NAME,
        description="The name of the Topology in the cluster",
    )
    required: Key | None = Field(
        None, description="The level of the topology that all pods must share"
    )
    preferred: Key | None = Field(
        None, description="The level of the topology that pods should share"
    )

    @model_validator(mode="after")
    def _any(self) -> Self:
        if not (self.required or self.preferred):
            raise ValueError("required: give the level that is required, or one that is preferred")
        return self
