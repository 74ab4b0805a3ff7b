"""REST: simulate a policy. Not part of Run:ai's API."""

from typing import Annotated, Any
from uuid import UUID

from ninja import Router
from pydantic import Field

from accounts.api.tokens import ApiRequest
from core.rest.api import StrictBody, Wire, enum_schema, refusal_error
from policies.api.routes import issue_of, scope_in_meta
from policies.api.schemas import PolicyMetaIn
from policies.services import build_policy, require_permission
from spec.kind import WorkloadKind
from spec.problems.errors import SpecError
from workloads.policies.simulation import SimulatedOutcome, SimulatedWorkload, simulate

router = Router(tags=["Policies"], by_alias=True)
REFUSED = "The policy cannot be simulated."


class SimulationIn(StrictBody):
    workload_type: WorkloadKind = Field(description="The kind of workload that the policy is for")
    meta: PolicyMetaIn = Field(description="Its name and where it belongs")
    policy: dict[str, Any] = Field(
        default_factory=dict, description="The policy: defaults, rules and imposedAssets"
    )


class SimulatedProblem(Wire):
    field: str = Field(description="The path of the value that is refused")
    details: str = Field(description="What is wrong with it")
    rule: str = Field(description="The rule that it breaks; empty if it is none of a policy")
    source: str = Field(description="Whose rule it is; empty if it is nobody's")


class SimulatedChange(Wire):
    field: str = Field(description="The path of the value in the spec")
    before: Any = Field(description="The value without the edit; null if there is none")
    after: Any = Field(description="The value with the edit; null if there is none")


class SimulatedRow(Wire):
    workload_id: UUID = Field(description="The ID of the workload")
    workload_name: str = Field(description="The name of the workload")
    project_id: str = Field(description="The ID of its project")
    outcome: Annotated[str, enum_schema(*SimulatedOutcome)] = Field(
        description="What it would be if it were submitted again"
    )
    refused_already: bool = Field(description="Whether it would be refused without the edit too")
    problems: list[SimulatedProblem] = Field(description="Why it would be refused")
    changes: list[SimulatedChange] = Field(description="The values that would differ")

    @classmethod
    def of(cls, row: SimulatedWorkload) -> "SimulatedRow":
        is_changed = row.outcome is SimulatedOutcome.CHANGED
        return cls(
            workload_id=row.workload.pk,
            workload_name=row.workload.name,
            project_id=str(row.workload.project_id),
            outcome=row.outcome,
            refused_already=row.is_refused_already,
            problems=[
                SimulatedProblem(field=it.field, details=it.message, rule=it.rule, source=it.source)
                for it in row.problems
            ],
            changes=[
                SimulatedChange(field=it.field, before=it.before, after=it.after)
                for it in (row.changes if is_changed else ())
            ],
        )


class SimulationCounts(Wire):
    refused: int = Field(description="How many would be refused")
    changed: int = Field(description="How many would be accepted with other values")
    unchanged: int = Field(description="How many would be accepted as they are")


class SimulationOut(Wire):
    counts: SimulationCounts = Field(description="How many workloads have which outcome")
    hidden: int = Field(
        description="How many more of its scope are not looked at, because you have no access"
    )
    workloads: list[SimulatedRow] = Field(description="Each of them, the newest first")


@router.post(
    "/policies/simulate",
    response=SimulationOut,
    operation_id="simulate_policy",
    summary="Simulate a policy",
)
def simulate_policy(request: ApiRequest, body: SimulationIn) -> SimulationOut:
    """What a policy, which need not be saved, would do to the last 100 workloads of its scope and
    kind that you may see, if they were submitted again. 400 lists every problem of the policy."""
    kind = body.workload_type
    scope = scope_in_meta(body.meta, request.user)
    require_permission(request.user, scope, kind)
    try:
        policy = build_policy(body.policy, scope=scope, kind=kind, name=body.meta.name.strip())
    except SpecError as error:
        raise refusal_error(REFUSED, [issue_of(problem) for problem in error.problems]) from error
    simulation = simulate(policy, by=request.user)
    return SimulationOut(
        counts=SimulationCounts(**simulation.counts),
        hidden=simulation.hidden,
        workloads=[SimulatedRow.of(row) for row in simulation.rows],
    )
