"""Find what this engine cannot provide, so that it is refused instead of left out."""

import os
from collections.abc import Iterator, Sequence

from engines.base import Launch
from engines.local.batch.job import MOST_NODES
from engines.local.planning import setup
from engines.local.planning.environment import RENDEZVOUS
from engines.local.planning.lookup import has_idle_workers
from engines.local.volumes import planning
from engines.shared import mounts
from engines.shared.batch_scripts import batch_script_complaints
from engines.shared.unsupported import (
    ELSEWHERE,
    Complaint,
    connection_complaints,
    of_variable,
    probe_complaints,
    queue_complaints,
    restart_complaints,
)
from spec.framework import Head
from spec.imports.allocation import read_allocation
from spec.imports.hosts import ScriptHost
from spec.parts.environment import Seccomp
from spec.parts.scheduling import DEFAULT_POOL, Preemptibility
from spec.problems.errors import Problem, parse_path
from spec.workload import Replica, WorkloadSpec

POD_FIELDS = ("metadata.name", "metadata.namespace", "spec.nodeName", "status.podIP")


def complaints(launch: Launch, paths: Sequence[str] = ()) -> Iterator[Problem]:
    """Yield a problem for everything in the spec that cannot be provided here.

    Fields that have no effect on a single machine are accepted: tolerations, pod affinity, pull
    secrets.
    """
    spec = launch.spec
    framework = spec.distributed_framework
    if framework and (lack := RENDEZVOUS[framework].lack):
        yield Problem(("distributedFramework",), lack)
    yield from batch_script_complaints(spec, ScriptHost.MACHINE)
    for field, message in _workload_complaints(spec):
        yield Problem(parse_path(field), f"{message}{ELSEWHERE}")
    for role in spec.described_roles:
        for field, message in _replica_complaints(role.replica, spec, paths):
            yield Problem(parse_path(f"{role.path}.{field}"), f"{message}{ELSEWHERE}")


def _workload_complaints(spec: WorkloadSpec) -> Iterator[Complaint]:
    if spec.is_elastic:
        field = "minReplicas" if spec.min_replicas is not None else "maxReplicas"
        yield field, "the ranks of the local engine start and end together"
    if spec.preemptibility is Preemptibility.SEMI_PREEMPTIBLE:
        yield (
            "preemptibility",
            "the local engine runs all workers or none, so it can guarantee no part of them; that "
            "needs a Kubernetes cluster whose KAI scheduler knows semi-preemptible",
        )
    if set(spec.node_pools) - {DEFAULT_POOL}:
        yield "nodePools", f"this machine is the pool {DEFAULT_POOL!r}, and the only one"
    yield from queue_complaints(spec, "on one machine")
    if spec.batch_script and read_allocation(spec.batch_script).nodes > MOST_NODES:
        yield "batchScript", f"this machine has addresses for {MOST_NODES} nodes"
    if spec.topology:
        yield "topology", "one machine has no network topology"
    if spec.setup and (lack := setup.complaint()):
        yield "setup", lack
    if spec.framework_traits.head is Head.LAUNCHER and not spec.has_master:
        yield "architecture", f"{spec.framework_traits.label} needs a master, its launcher"
    if has_idle_workers(spec) and (spec.worker.command or spec.worker.args):
        field = "worker.command" if spec.worker.command else "worker.args"
        yield field, "the workers wait for what the launcher starts on them"
    if spec.roles and (trouble := mounts.why_no_mounts()):
        yield (
            "roles",
            "the ranks of named roles find each other by host names in mounts of their own, which "
            f"this system does not allow ({trouble})",
        )
    if spec.priority_class:
        yield "priorityClass", "workloads start by quota, rank of the project and age here"


def _replica_complaints(
    replica: Replica, spec: WorkloadSpec, paths: Sequence[str]
) -> Iterator[Complaint]:
    yield from _security_complaints(replica)
    yield from _variable_complaints(replica)
    if replica.compute.extended_resources:
        yield "compute.extendedResources", "the local engine only supports CPU, memory and GPUs"
    yield from restart_complaints(replica, spec)
    yield from probe_complaints(replica, "the local engine has no probes")
    yield from planning.complaints(replica.storage, paths)
    if replica.node_type:
        yield "nodeType", "this machine has no node type"
    if replica.node_affinity_required:
        yield "nodeAffinityRequired", "this machine has no node labels"
    if replica.stdin or replica.tty:
        yield "tty" if replica.tty else "stdin", "a process of the local engine has no terminal"
    yield from connection_complaints(replica, "on one machine")


def _variable_complaints(replica: Replica) -> Iterator[Complaint]:
    for index, variable in enumerate(replica.environment_variables):
        yield from of_variable(f"environmentVariables[{index}]", variable, POD_FIELDS)


def _security_complaints(replica: Replica) -> Iterator[Complaint]:
    security = replica.security
    user = f"ranks run as the user of this server ({os.getuid()}:{os.getgid()})"
    if security.run_as_uid not in {None, os.getuid()}:
        yield "security.runAsUid", user
    if security.run_as_gid not in {None, os.getgid()}:
        yield "security.runAsGid", user
    if security.supplemental_groups:
        yield "security.supplementalGroups", user
    if security.run_as_non_root and os.getuid() == 0:
        yield "security.runAsNonRoot", f"{user}, which is root"
    if security.allow_privilege_escalation is False:
        yield "security.allowPrivilegeEscalation", "the local engine cannot forbid it"
    if security.read_only_root_filesystem:
        yield "security.readOnlyRootFilesystem", "ranks share the file system of this machine"
    if security.capabilities:
        yield "security.capabilities", "the local engine cannot add Linux capabilities"
    if security.seccomp_profile_type not in {None, Seccomp.UNCONFINED}:
        yield "security.seccompProfileType", "the local engine sets no seccomp profile"
