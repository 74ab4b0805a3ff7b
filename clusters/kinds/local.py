"""This machine as a kind of cluster. It exists while the local engine is on, and needs no
connection."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from django.conf import settings

from clusters.kinds.base import ClusterKind
from engines.base import Engine, EngineUnavailable, Launch
from engines.local.engine import LocalEngine
from engines.local.interpreter.choice import (
    Build,
    Interpreter,
    choose_interpreter,
    own_interpreter,
)
from engines.local.interpreter.starting import preparation_of, prepare_again
from engines.local.planning import packages, planner, refusals
from engines.local.planning.lookup import Programs
from engines.local.volumes import planning
from engines.preparation import Preparation
from spec.data.storage import Storage
from spec.imports.hosts import ScriptHost
from spec.problems.errors import Problem, parse_path

if TYPE_CHECKING:
    from clusters.models import Cluster

NOT_PULLED = "is not used: this machine pulls no image, so ranks run the programs that it has"
STANDS_FOR_IT = "is not pulled: on this machine a command stands for each image that it knows"
ELSEWHERE = "Kubernetes clusters have these settings."
#: Reasons against sections of the wizard.
MISSING_SECTIONS = {
    "runtime": "On this machine ranks run as the user of this server, and no image is pulled. "
    + ELSEWHERE,
    "readiness": f"On this machine a rank is ready when it runs. {ELSEWHERE}",
    "scheduling": "This machine is the only node. Quotas, the projects' ranks and the order of "
    "submission decide what starts next. " + ELSEWHERE,
    "size": f"On this machine all ranks start and end together. {ELSEWHERE}",
}


class LocalKind(ClusterKind):
    slug = "local"
    label = "This machine"
    has_queue = False
    is_one_machine = True
    shares_ports = True
    script_host = ScriptHost.MACHINE
    why_permanent = "This machine is a cluster as long as the local engine is on."
    missing_sections = MISSING_SECTIONS

    def connect(self, cluster: "Cluster") -> Engine:
        if not settings.LOCAL_ENGINE:
            raise EngineUnavailable("The local engine is turned off (TRAINYARD_LOCAL_ENGINE=off).")
        return LocalEngine(
            settings.LOCAL_ENGINE_HOME,
            images=settings.LOCAL_IMAGES,
            virtual_gpus=settings.LOCAL_VIRTUAL_GPUS,
            paths=mountable_paths(),
            interpreter=interpreter(),
        )

    def preparation(self, cluster: "Cluster") -> Preparation | None:
        return preparation_of(interpreter()) if settings.LOCAL_ENGINE else None

    def prepare_again(self, cluster: "Cluster") -> None:
        prepare_again(interpreter())

    def complaints(self, cluster: "Cluster", launch: Launch) -> Iterator[Problem]:
        return planner.complaints(launch, programs(), mountable_paths())

    def unsupported(self, cluster: "Cluster", launch: Launch) -> Iterator[Problem]:
        return refusals.complaints(launch, mountable_paths())

    def warnings(self, cluster: "Cluster", launch: Launch) -> Iterator[Problem]:
        for role in launch.spec.described_roles:
            if role.replica.image:
                message = NOT_PULLED if role.replica.command else STANDS_FOR_IT
                yield Problem(parse_path(f"{role.path}.image"), message)
        for lack in packages.lacking_packages(launch.spec, programs()):
            yield Problem(parse_path(lack.field), lack.message)

    def reads_claims(self, cluster: "Cluster") -> bool:
        return True

    def claim_folder(self, cluster: "Cluster", project: str, claim: str) -> Path:
        return planning.claim_folder(settings.LOCAL_ENGINE_HOME, project, claim)

    def storage_complaints(self, cluster: "Cluster", storage: Storage) -> Iterator[str]:
        for _, message in planning.complaints(storage, mountable_paths()):
            yield message


@cache
def interpreter() -> Interpreter:
    """Return the Python of trainings."""
    if not settings.LOCAL_ENGINE:
        return own_interpreter(settings.LOCAL_PYTHON_HOME)
    return choose_interpreter(
        settings.LOCAL_PYTHON_HOME,
        chosen=settings.LOCAL_PYTHON,
        build=Build(settings.LOCAL_TORCH),
        wheels=settings.LOCAL_WHEELS,
    )


def programs() -> Programs:
    return Programs(settings.LOCAL_IMAGES, interpreter().python)


def mountable_paths() -> list[str]:
    """Return the folders that workloads may mount: those that administrators allow, and each
    version of a dataset."""
    return [*settings.LOCAL_PATHS, f"{settings.DATASETS}/*"]


LOCAL = LocalKind()
