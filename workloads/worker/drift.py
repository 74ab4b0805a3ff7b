"""Follow changes that somebody makes to a workload directly on its cluster."""

from django.db import transaction

from engines.base import EngineRefused, Observation
from projects.quotas import Demand
from spec.phases import HANDED_OVER, RANK_ACTIVE, STOPPABLE, Phase, RankPhase
from workloads import reconcile, services
from workloads.engines import engine_for_person
from workloads.history import events
from workloads.launch import launch_with_secrets
from workloads.models import Rank, Workload

RESUMED = "It was resumed on the cluster, not in Trainyard."
RUNS_ANEW = "Run creates it again; data in its volumes on the cluster is gone."
SCALED_AWAY = "Removed: the workload was scaled down on the cluster."


def is_resumed(workload: Workload, observation: Observation) -> bool:
    """Whether a stopped run was resumed on the cluster.

    A workload that was given up before it was ever observed, and starts late, does not count: it
    has to end.
    """
    return (
        workload.phase == Phase.STOPPED
        and workload.deleted_at is None
        and workload.run == observation.run == workload.observed_run
        and observation.sequence > workload.observed_sequence
        and observation.phase in STOPPABLE
        and workload.cluster.capabilities.queues
    )


def follow_resumption(workload: Workload) -> None:
    """Start the next run, as Run would have done, so that its output is kept apart from the earlier
    one's."""
    try:
        services.resume(workload, by=None, message=RESUMED)
        engine_for_person(workload.cluster, workload.created_by_id).submit(
            launch_with_secrets(workload)
        )
    except services.NotPossible:
        return  # somebody pressed Run at the same moment
    except EngineRefused as refusal:
        reconcile.fail_refused(workload, refusal)


def record_if_gone(workload: Workload, observation: Observation) -> None:
    """Note that the cluster lost a stopped workload, if this observation says so."""
    if observation.phase is None and workload.phase == Phase.STOPPED and not workload.deleted_at:
        record_gone(workload, observation.run, observation.message)


def record_gone(workload: Workload, run: int, why: str = "") -> None:
    """Say on a stopped workload that its job is gone. It stays stopped, because it can run
    again."""
    text = f"{why or f'{workload.cluster.name} no longer has its job.'} {RUNS_ANEW}"
    stopped = Workload.objects.filter(pk=workload.pk, run=run, phase=Phase.STOPPED)
    with transaction.atomic():
        if stopped.update(message=text):
            events.record_note(workload, text, source="engine")


def follow_size(workload: Workload, observation: Observation) -> None:
    """Adopt the number of ranks of a gang that somebody scaled on the cluster."""
    size = len(observation.ranks)
    if not is_resized(workload, observation):
        return
    # Guarded: another process may have adopted the size already.
    unchanged = Workload.objects.filter(
        pk=workload.pk, run=observation.run, num_pods=workload.num_pods, deleted_at=None
    )
    with transaction.atomic():
        if not unchanged.update(num_pods=size, **_demand(workload, observation)):
            return
        text = f"Scaled on the cluster: {size} ranks now, {workload.num_pods} before."
        events.record_note(workload, text, source="engine")
        present = set(workload.ranks.values_list("rank", flat=True))
        Rank.objects.bulk_create(
            Rank.of_state(workload, state)
            for state in observation.ranks
            if state.rank not in present
        )
        workload.ranks.filter(rank__gte=size, phase__in=RANK_ACTIVE).update(
            phase=RankPhase.STOPPED, message=SCALED_AWAY, finished_at=observation.at
        )
    workload.refresh_from_db()


def is_resized(workload: Workload, observation: Observation) -> bool:
    """Whether the observation, if it is the latest of its run, shows that the gang was scaled."""
    latest = (workload.observed_run, workload.observed_sequence)
    return (
        observation.phase in HANDED_OVER
        and observation.run == workload.run
        and (observation.run, observation.sequence) > latest
        and len(observation.ranks) not in {0, workload.num_pods}
        and not observation.has_own_ranks
        and workload.cluster.capabilities.queues
    )


def _demand(workload: Workload, observation: Observation) -> dict[str, float]:
    """Resources that all ranks request together; empty if the spec can no longer be read."""
    if workload.spec_fault:
        return {}
    spec = workload.spec
    memory = workload.cluster.gpu_memory if spec.depends_on_gpu_memory else 0
    replicas = {pod.role: pod.replica.compute for pod in spec.pods}
    demand = Demand()
    for state in observation.ranks:
        compute = replicas[state.role]
        demand += Demand(compute.gpus(memory), compute.cpu_core_request, compute.memory_bytes)
    return {"gpus": demand.gpus, "cpu_cores": demand.cpu, "memory_bytes": demand.memory}
