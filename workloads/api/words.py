"""Types of fields that are more specific than text: one of a few words, an id, a document."""

from typing import Annotated, Any

from pydantic import BeforeValidator

from core.rest.api import enum_schema
from spec.framework import Framework
from spec.kind import WorkloadKind
from spec.phases import Phase, RankPhase, Reason
from spec.problems.causes import CauseKind
from workloads.api.spec_schemas import MASTER_SPEC, spec_schema
from workloads.diagnosis import BY_ID
from workloads.diagnosis.base import Fault

TypeWord = Annotated[str, enum_schema(*(kind.traits.type for kind in WorkloadKind))]
RankPhaseWord = Annotated[str, enum_schema(*RankPhase)]
EventType = Annotated[str, enum_schema("PhaseUpdate", "Event")]
AnyPhase = Annotated[str, enum_schema("", *Phase)]
PhaseWord = Annotated[str, enum_schema(*Phase)]
ReasonWord = Annotated[str, enum_schema(*Reason)]
FrameworkWord = Annotated[str, enum_schema("", *Framework)]  # empty for workloads of one pod
CauseWord = Annotated[str, enum_schema(*CauseKind)]
AnyCause = Annotated[str, enum_schema("", *CauseKind)]
FaultWord = Annotated[str, enum_schema(*Fault)]
FailureWord = Annotated[str, enum_schema(*BY_ID)]
DesiredPhase = Annotated[str, enum_schema("Running", "Stopped", "Deleted")]
#: Accepts numbers too: Run:ai has numbers in assets and text in workloads.
ProjectId = Annotated[str, BeforeValidator(lambda it: str(it) if type(it) is int else it)]
DistributedDocument = Annotated[dict[str, Any], spec_schema(WorkloadKind.DISTRIBUTED)]
OnePodDocument = Annotated[
    dict[str, Any], spec_schema(WorkloadKind.TRAINING, WorkloadKind.WORKSPACE)
]
MasterDocument = Annotated[dict[str, Any] | None, MASTER_SPEC]
