"""Turn a launch into a plan: find commands, resolve variables, and refuse the rest."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from engines.base import EngineRefused, Launch, raise_complaints
from engines.local.planning import lookup, mpi, refusals
from engines.local.planning.environment import HOST
from engines.local.records.plan import GangPlan, RankPlan
from engines.local.system.inherited import base_variables
from engines.local.volumes import planning
from engines.nodes import NodeInfo
from spec.framework import Head
from spec.phases import Reason
from spec.problems.errors import Problem, parse_path
from spec.tools import tools_of
from spec.values.variable import EnvironmentVariable
from spec.workload import Pod, Role


def complaints(
    launch: Launch, images: lookup.Images, paths: Sequence[str] = ()
) -> Iterator[Problem]:
    """Everything that a start would refuse: what cannot be provided here, and what is missing now.
    ``paths`` are folders of this machine that workloads may mount."""
    yield from refusals.complaints(launch, paths)
    yield from map(_problem, lookup.lacks(launch, images))


@dataclass(frozen=True)
class Planner:
    """Makes plans with the image catalog and the programs and folders of this machine. Otherwise
    pure."""

    images: lookup.Images
    node: NodeInfo
    restart_delay: float = 1.0
    paths: Sequence[str] = ()

    def plan(self, launch: Launch) -> GangPlan:
        """The plan. ``EngineRefused`` says what cannot be provided, in which field, and
        what to do."""
        spec = launch.spec
        handle = launch.handle
        if problems := list(complaints(launch, self.images, self.paths)):
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
            base=base_variables(),
            ranks=[self._rank(launch, pod) for pod in spec.pods],
            time_limit=spec.time_limit_seconds,
            ran=launch.ran,
            processes=spec.processes_per_pod or 1,
            setup=list(spec.setup),
            keys=planning.keys(launch),
            files=planning.files(launch),
        )

    def _reason(self, launch: Launch, problem: Problem) -> Reason:
        """The reason to show for the first problem."""
        lack = next(lookup.lacks(launch, self.images), None)
        return lack.reason if lack and _problem(lack) == problem else Reason.REFUSED

    def _rank(self, launch: Launch, pod: Pod) -> RankPlan:
        replica = pod.replica
        compute = pod.replica.compute
        variables = {
            variable.name: self._value(launch, pod, variable)
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
            role=pod.role.value,
            index=pod.index,
            argv=self._argv(launch, pod),
            variables=variables,
            working_dir=replica.working_dir or "",
            visible_gpus=self._visible(launch.gpus.get(pod.rank, ())),
            gpu_request=compute.gpus(self.node.gpus[0].memory if self.node.gpus else 0),
            cpu_limit=compute.cpu_core_limit,
            memory_limit=compute.memory_limit_bytes,
            own_home=replica.create_home_dir,
            volumes=planning.volumes(launch, pod, self.paths),
            tool_ports=_tool_ports(launch, pod),
            secret_names=list(secrets),
            secrets=secrets,
        )

    def _argv(self, launch: Launch, pod: Pod) -> list[str]:
        spec = launch.spec
        starts_ranks = spec.framework_traits.head is Head.LAUNCHER
        if starts_ranks and pod.role is Role.WORKER:
            return mpi.waiting(pod.name)
        argv = lookup.command(pod.replica, self.images) or []
        return (
            mpi.launching(argv, spec.num_workers, spec.slots_per_worker) if starts_ranks else argv
        )

    def _visible(self, given: Sequence[int]) -> list[int]:
        """The real devices among those that admission assigned; virtual ones run on the CPU."""
        gpus = {gpu.index: gpu for gpu in self.node.gpus}
        if unknown := [index for index in given if index not in gpus]:
            raise EngineRefused(f"GPU {unknown[0]} does not exist on this machine; submit again.")
        return [index for index in given if not gpus[index].virtual]

    def _value(self, launch: Launch, pod: Pod, variable: EnvironmentVariable) -> str:
        if variable.pod_field_ref is None:
            return variable.value or ""
        return {
            "metadata.name": f"{launch.handle.name}-{pod.name}",
            "metadata.namespace": launch.handle.project,
            "spec.nodeName": self.node.name,
            "status.podIP": HOST,
        }[variable.pod_field_ref.path]


def _tool_ports(launch: Launch, pod: Pod) -> list[int]:
    served = (tool for tool in tools_of(launch.spec) if tool.pod.rank == pod.rank)
    return sorted({tool.port for tool in served})


def _problem(lack: lookup.Lack) -> Problem:
    return Problem(parse_path(lack.place), lack.message)
