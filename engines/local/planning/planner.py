"""Turn a launch into a plan: find commands, resolve variables, and refuse the rest."""

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from engines.base import EngineRefused, Launch, raise_complaints
from engines.local.batch.starting import host_command
from engines.local.planning import hosts, lookup, mpi, refusals
from engines.local.planning.environment import HOST
from engines.local.records.plan import BatchPlan, GangPlan, RankPlan
from engines.local.records.volume import FILES, Volume
from engines.local.system.inherited import base_variables
from engines.local.volumes import planning
from engines.nodes import NodeInfo
from spec.framework import Head
from spec.imports.allocation import read_allocation
from spec.phases import Reason
from spec.problems.errors import Problem, parse_path
from spec.tools import served_tools
from spec.values.variable import EnvironmentVariable
from spec.workload import Pod, WorkloadSpec

HOSTFILE = Path("/etc/mpi/hostfile")
HOSTFILE_SOURCE = "runs/{run}/volumes/hostfile"


def complaints(
    launch: Launch, programs: lookup.Programs, paths: Sequence[str] = ()
) -> Iterator[Problem]:
    """Yield everything that a start would refuse: what cannot be provided here, and what is missing
    now. ``paths`` are folders of this machine that workloads may mount."""
    yield from refusals.complaints(launch, paths)
    yield from map(_to_problem, lookup.lacks(launch, programs))


@dataclass(frozen=True)
class Planner:
    """Makes plans from the programs and folders of this machine."""

    programs: lookup.Programs
    node: NodeInfo
    restart_delay: float = 1.0
    paths: Sequence[str] = ()

    def plan(self, launch: Launch) -> GangPlan:
        """Return the plan. Raises ``EngineRefused``, which says what cannot be provided, in which
        field, and what to do."""
        spec = launch.spec
        handle = launch.handle
        problems = list(complaints(launch, self.programs, self.paths))
        if problems:
            raise_complaints(problems, reason=self._reason(launch, problems[0]))
        return GangPlan(
            workload_id=str(handle.workload_id),
            name=handle.name,
            project=handle.project,
            run=launch.run,
            framework=spec.distributed_framework or "",
            node=self.node.name,
            backoff_limit=spec.backoff_limit,
            grace=spec.termination_grace_period_seconds,
            restart_delay=self.restart_delay,
            base=base_variables(self.programs.python),
            ranks=[self._rank_plan(launch, pod) for pod in spec.pods],
            time_limit=spec.time_limit_seconds,
            ran=launch.ran,
            processes=spec.processes_per_pod or 1,
            setup=list(spec.setup),
            batch=batch_plan(spec),
            keys=planning.keys(launch),
            files=planning.files(launch) | _hostfile_texts(launch) | hosts.texts(launch),
            ignores_others=spec.ignore_non_lead_status,
        )

    def _reason(self, launch: Launch, problem: Problem) -> Reason:
        """Return the reason to show for the first problem."""
        lack = next(lookup.lacks(launch, self.programs), None)
        if lack and _to_problem(lack) == problem:
            return lack.reason
        return Reason.REFUSED

    def _rank_plan(self, launch: Launch, pod: Pod) -> RankPlan:
        replica = pod.replica
        compute = pod.replica.compute
        variables = {
            variable.name: self._variable_value(launch, pod, variable)
            for variable in replica.environment_variables
            if not variable.credential
        }
        secrets = {
            variable.name: launch.secret_of(variable)
            for variable in replica.environment_variables
            if variable.credential
        }
        return RankPlan(
            rank=pod.rank,
            role=pod.role,
            index=pod.index,
            argv=self._command_line(launch, pod),
            variables=variables,
            working_dir=replica.working_dir or "",
            visible_gpus=self._real_gpus(launch.gpus.get(pod.rank, ())),
            gpu_request=compute.gpus(self.node.gpus[0].memory if self.node.gpus else 0),
            cpu_limit=compute.cpu_core_limit,
            memory_limit=compute.memory_limit_bytes,
            own_home=replica.create_home_dir,
            volumes=[
                *planning.volumes(launch, pod, self.paths),
                *_hostfile_volumes(launch, pod),
                *hosts.volumes(launch.spec),
            ],
            tool_ports=_tool_ports(launch, pod),
            secret_names=list(secrets),
            secrets=secrets,
            expanded=[it.name for it in replica.environment_variables if it.is_expanded],
            order=[it.name for it in replica.environment_variables],
            leads=pod.leads,
        )

    def _command_line(self, launch: Launch, pod: Pod) -> list[str]:
        spec = launch.spec
        if spec.batch_script:
            return host_command(pod.rank)
        has_launcher = _has_launcher(launch)
        if has_launcher and not pod.leads:
            return mpi.worker_command(pod.name)
        argv = lookup.find_command(pod.replica, self.programs) or []
        if has_launcher:
            return mpi.launcher_command(argv, spec.num_workers, spec.slots_per_worker)
        return argv

    def _real_gpus(self, assigned: Sequence[int]) -> list[int]:
        """Return the real devices among those that admission ``assigned``; virtual ones run on the
        CPU. Raises ``EngineRefused`` if one does not exist."""
        gpus = {gpu.index: gpu for gpu in self.node.gpus}
        for index in assigned:
            if index not in gpus:
                raise EngineRefused(f"GPU {index} does not exist on this machine; submit again.")
        return [index for index in assigned if not gpus[index].virtual]

    def _variable_value(self, launch: Launch, pod: Pod, variable: EnvironmentVariable) -> str:
        if variable.pod_field_ref is None:
            return variable.value or ""
        return {
            "metadata.name": f"{launch.handle.name}-{pod.name}",
            "metadata.namespace": launch.handle.project,
            "spec.nodeName": self.node.name,
            "status.podIP": hosts.address_of(launch, pod) if launch.spec.roles else HOST,
        }[variable.pod_field_ref.path]


def _has_launcher(launch: Launch) -> bool:
    return launch.spec.framework_traits.head is Head.LAUNCHER


def _hostfile_volumes(launch: Launch, pod: Pod) -> Iterator[Volume]:
    """Yield the file of hosts, which the launcher of MPI has where the MPI operator puts it."""
    if _has_launcher(launch) and pod.leads:
        yield Volume(
            FILES, str(HOSTFILE), HOSTFILE_SOURCE, read_only=True, mode=0o644, file=HOSTFILE.name
        )


def _hostfile_texts(launch: Launch) -> dict[str, dict[str, str]]:
    """Return the text of that file, by the source of its volume."""
    if not _has_launcher(launch):
        return {}
    spec = launch.spec
    return {HOSTFILE_SOURCE: {HOSTFILE.name: mpi.hostfile(spec.num_workers, spec.slots_per_worker)}}


def batch_plan(spec: WorkloadSpec) -> BatchPlan | None:
    """Return the plan of the batch script; ``None`` without one."""
    if not spec.batch_script:
        return None
    allocation = read_allocation(spec.batch_script)
    return BatchPlan(
        script=spec.batch_script,
        arguments=shlex.split(spec.worker.args or ""),
        tasks_per_node=list(allocation.tasks_per_node),
        cpus_per_task=allocation.cpus_per_task,
        gpus=allocation.gpus,
        sets_tasks=allocation.has_tasks_option,
        options={name: option.value for name, option in allocation.options.items()},
    )


def _tool_ports(launch: Launch, pod: Pod) -> list[int]:
    return sorted({tool.port for tool in served_tools(launch.spec) if tool.pod.rank == pod.rank})


def _to_problem(lack: lookup.Lack) -> Problem:
    return Problem(parse_path(lack.field), lack.message)
