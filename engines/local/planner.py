"""From a launch to a plan: commands found, variables resolved, all else refused."""

import os
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from engines.base import EngineRefused, Launch, Node
from engines.local import refusals
from engines.local.environment import HOST, RENDEZVOUS, Variables
from engines.local.plan import Plan, RankPlan
from spec.environment import EnvironmentVariable
from spec.phases import Reason
from spec.workload import Pod, Replica, Role

ROOT = Path(__file__).resolve().parents[2]
#: What a rank inherits. All else, above all Trainyard's own secrets, stays outside.
INHERITED = """HOME USER LOGNAME SHELL LANG LC_ALL LC_CTYPE TZ TMPDIR LD_LIBRARY_PATH""".split()


def base_variables() -> Variables:
    """The clean environment that every rank starts from."""
    found = {name: os.environ[name] for name in INHERITED if name in os.environ}
    programs = str(Path(sys.executable).parent)  # ours first: "python" and "torchrun" are found
    found["PATH"] = os.pathsep.join([programs, os.environ.get("PATH", os.defpath)])
    found["PYTHONPATH"] = str(ROOT)
    if sys.prefix != sys.base_prefix:
        found["VIRTUAL_ENV"] = sys.prefix
    return found


@dataclass(frozen=True)
class Planner:
    """Knows the image catalogue and this machine. Pure, but for looking up programs."""

    images: Mapping[str, Sequence[str]]
    node: Node
    restart_delay: float = 1.0

    def plan(self, launch: Launch) -> Plan:
        """``EngineRefused`` says what cannot be had here, in which field, and what to do."""
        spec, handle = launch.spec, launch.handle
        if spec.distributed_framework not in RENDEZVOUS:
            raise EngineRefused(
                f"{spec.distributed_framework.label} does not run on this machine; choose "
                "PyTorch, or a cluster that offers it.",
                field="distributedFramework",
            )
        refusals.check_whole(spec)
        return Plan(
            workload_id=str(handle.workload_id),
            name=handle.name,
            project=handle.project,
            run=launch.run,
            framework=spec.distributed_framework.value,
            node=self.node.name,
            backoff_limit=spec.backoff_limit,
            grace=spec.termination_grace_period_seconds,
            restart_delay=self.restart_delay,
            base=base_variables(),
            ranks=[self._rank(launch, pod) for pod in spec.pods],
        )

    def _rank(self, launch: Launch, pod: Pod) -> RankPlan:
        own_master = pod.role is Role.MASTER and launch.spec.master is not None
        prefix = "master" if own_master else "worker"
        refusals.check(pod, prefix)
        replica, compute = pod.replica, pod.replica.compute
        variables = {
            variable.name: self._value(launch, pod, variable)
            for variable in replica.environment_variables
        }
        return RankPlan(
            rank=pod.rank,
            role=pod.role.value,
            index=pod.index,
            argv=self._argv(replica, prefix, variables),
            variables=variables,
            working_dir=_working_dir(replica, prefix),
            visible_gpus=self._visible(launch.gpus.get(pod.rank, ())),
            gpu_request=compute.gpus(self.node.gpus[0].memory if self.node.gpus else 0),
            cpu_limit=compute.cpu_core_limit,
            memory_limit=compute.memory_limit_bytes,
            own_home=replica.create_home_dir,
        )

    def _visible(self, given: Sequence[int]) -> list[int]:
        """The real ones of the devices that admission gave; virtual ones run on the CPU."""
        known = {gpu.index: gpu for gpu in self.node.gpus}
        if unknown := [index for index in given if index not in known]:
            raise EngineRefused(f"GPU {unknown[0]} is not on this machine; submit again.")
        return [index for index in given if not known[index].virtual]

    def _value(self, launch: Launch, pod: Pod, variable: EnvironmentVariable) -> str:
        if variable.pod_field_ref is None:
            return variable.value or ""
        return {
            "metadata.name": f"{launch.handle.name}-{pod.name}",
            "metadata.namespace": launch.handle.project,
            "spec.nodeName": self.node.name,
            "status.podIP": HOST,
        }[variable.pod_field_ref.path]

    def _argv(self, replica: Replica, prefix: str, variables: Variables) -> list[str]:
        if replica.command:
            argv = shlex.split(replica.command)
        else:
            argv = self._catalogue(replica.image, prefix)
        argv += shlex.split(replica.args or "")
        path = variables.get("PATH", base_variables()["PATH"])
        here = replica.working_dir or str(ROOT)
        program = argv[0] if not argv[0].startswith((".", "..")) else str(Path(here) / argv[0])
        if shutil.which(program, path=path) is None:
            raise EngineRefused(
                f"{prefix}.command: {argv[0]!r} is not a program on this machine; install it, give "
                "its full path, or choose another command.",
                reason=Reason.COMMAND_NOT_FOUND,
                field=f"{prefix}.command",
            )
        return argv

    def _catalogue(self, image: str, prefix: str) -> list[str]:
        name = image if ":" in image.rpartition("/")[2] or "@" in image else f"{image}:latest"
        for pattern, command in self.images.items():
            if fnmatchcase(name, pattern):
                return [word.replace("{python}", sys.executable) for word in command]
        raise EngineRefused(
            f"{prefix}.image: {image} has no command on this machine, which runs programs and does "
            "not pull images; give the environment a command, or use one of "
            f"{', '.join(self.images) or 'the images that LOCAL_IMAGES lists'}.",
            reason=Reason.IMAGE_UNKNOWN,
            field=f"{prefix}.image",
        )


def _working_dir(replica: Replica, prefix: str) -> str:
    """The folder that was asked for, which must be here; empty for one of the rank's own."""
    if replica.working_dir and not Path(replica.working_dir).is_dir():
        raise EngineRefused(
            f"{prefix}.workingDir: {replica.working_dir} is not a folder on this machine; make "
            "it, or leave the field empty for a folder of the rank's own.",
            field=f"{prefix}.workingDir",
        )
    return replica.working_dir or ""
