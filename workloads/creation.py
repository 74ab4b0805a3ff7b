"""The rows of workloads that were planned, and the message that asks for them to be run."""

from collections.abc import Sequence
from operator import attrgetter
from typing import Any
from uuid import UUID

from accounts.models import User
from spec import documents
from workloads import history, outbox
from workloads.models import Rank, Source, Workload
from workloads.plan import Plan, Ready


def create(
    plans: Sequence[Plan],
    *,
    by: User,
    source: Source,
    draft_id: UUID | None = None,
    copied_from: Workload | None = None,
) -> list[Workload]:
    """One workload of each plan, all of one project, in the order of the plans.

    ``draft_id`` and ``copied_from`` are of a plan that is alone. Call it in a transaction.
    ``SpecError`` where a plan has problems, ``IntegrityError`` where a name was taken meanwhile.
    """
    origin = {"created_by": by, "source": source, "draft_id": draft_id, "copied_from": copied_from}
    ready = [made.ready() for made in plans]
    workloads = [_row(made, own, **origin) for made, own in zip(plans, ready, strict=True)]
    # They queue as they were built. By name, so that no two that take the same wait for each other.
    Workload.objects.bulk_create(sorted(workloads, key=attrgetter("name")))
    for workload, made in zip(workloads, plans, strict=True):
        _link(workload, made)
    Rank.objects.bulk_create(
        Rank(workload=workload, rank=pod.rank, role=pod.role, index=pod.index)
        for workload, own in zip(workloads, ready, strict=True)
        for pod in own.spec.pods
    )
    history.submitted(workloads, actor=by)
    outbox.submit(*workloads)
    return workloads


def _row(made: Plan, ready: Ready, **origin: Any) -> Workload:
    spec, demand = ready.spec, ready.demand
    return Workload(
        name=made.draft.name,
        project=ready.project,
        cluster=ready.project.cluster,
        draft_json=made.draft.model_dump(mode="json", by_alias=True),
        spec_json=documents.dump(spec),
        origins_json=made.origins,
        template=made.template,
        framework=spec.distributed_framework,
        architecture=spec.architecture,
        image=spec.worker.image,
        num_pods=spec.num_pods,
        gpus=demand.gpus,
        cpu_cores=demand.cpu,
        memory_bytes=demand.memory,
        **origin,
    )


def _link(workload: Workload, made: Plan) -> None:
    """To the assets it was made of. Setting none would ask the database for what a new row has."""
    if made.environments:
        workload.environments.set(made.environments)
    if made.compute_resources:
        workload.compute_resources.set(made.compute_resources)
