"""Types of fields that are more specific than text: one of a few words, an id, a document."""

from typing import Annotated, Any

from pydantic import BeforeValidator

from core.rest.api import words
from spec.framework import Framework
from spec.kind import WorkloadKind
from spec.phases import Phase, RankPhase, Reason
from spec.problems.causes import CauseKind
from spec.workload import Role
from workloads.api.spec_schemas import MASTER_SPEC, spec_of
from workloads.diagnosis import BY_ID
from workloads.diagnosis.base import Fault

TypeWord = Annotated[str, words(*(kind.traits.type for kind in WorkloadKind))]
RoleWord = Annotated[str, words(*Role)]
RankPhaseWord = Annotated[str, words(*RankPhase)]
EventType = Annotated[str, words("PhaseUpdate", "Event")]
AnyPhase = Annotated[str, words("", *Phase)]
PhaseWord = Annotated[str, words(*Phase)]
ReasonWord = Annotated[str, words(*Reason)]
FrameworkWord = Annotated[str, words("", *Framework)]  # empty for workloads of one pod
CauseWord = Annotated[str, words(*CauseKind)]
AnyCause = Annotated[str, words("", *CauseKind)]
FaultWord = Annotated[str, words(*Fault)]
FailureWord = Annotated[str, words(*BY_ID)]
DesiredPhase = Annotated[str, words("Running", "Stopped", "Deleted")]
#: Accepts numbers too: Run:ai has numbers in assets and text in workloads.
ProjectId = Annotated[str, BeforeValidator(lambda it: str(it) if type(it) is int else it)]
DistributedDocument = Annotated[dict[str, Any], spec_of(WorkloadKind.DISTRIBUTED)]
OnePodDocument = Annotated[dict[str, Any], spec_of(WorkloadKind.TRAINING, WorkloadKind.WORKSPACE)]
MasterDocument = Annotated[dict[str, Any] | None, MASTER_SPEC]
