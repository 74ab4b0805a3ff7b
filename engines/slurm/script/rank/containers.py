"""The image of a rank, where the cluster starts containers: by pyxis, which is a plugin of srun, or
by apptainer, which the rank's own script calls. Pure.

In both the shared directory and host paths are at the paths that they have on the nodes, so that
scripts, checkpoints and what was fetched are found where they are.
"""

import shlex
from collections.abc import Iterator

from engines.base import Launch
from engines.slurm.script.shape import Tasks, has_launcher, tasks_of
from engines.slurm.script.site import APPTAINER, NO_CONTAINERS, PYXIS, SINGULARITY, SlurmSite
from spec.problems.errors import Problem, path_of
from spec.workload import Pod, Replica

FILE = "file://"
SHELLS = {APPTAINER, SINGULARITY}
NOT_USED = "is not used: {why}, so ranks run the programs of the nodes"


def starter(launch: Launch, site: SlurmSite) -> str:
    """What starts images for this launch; empty where it runs without."""
    chosen = site.containers or launch.site.containers
    if chosen == NO_CONTAINERS or launch.spec.batch_script or has_launcher(launch.spec):
        return ""
    return chosen


def unused(launch: Launch, site: SlurmSite) -> Iterator[Problem]:
    """Images that make no difference, by their places."""
    if starter(launch, site) or launch.spec.batch_script:
        return
    why = _why_not(launch, site)
    for role, replica in (("worker", launch.spec.worker), ("master", launch.spec.master)):
        if replica and replica.image:
            yield Problem(path_of(f"{role}.image"), NOT_USED.format(why=why))


def _why_not(launch: Launch, site: SlurmSite) -> str:
    if site.containers == NO_CONTAINERS:
        return "the cluster's administrators turned containers off"
    if site.containers or launch.site.containers:
        return "an MPI launcher starts the workers itself"
    return "the cluster has neither pyxis nor apptainer"


def complaints(launch: Launch, site: SlurmSite) -> Iterator[tuple[str, str]]:
    """pyxis gives all tasks of a step one image, and our script its place in it."""
    master, worker = launch.spec.master, launch.spec.worker
    if starter(launch, site) == PYXIS and master and master.image != worker.image:
        text = f"with pyxis all ranks have one image; choose {worker.image or 'none'}, as workers"
        yield "master.image", text


def of_step(launch: Launch, site: SlurmSite, tasks: Tasks) -> list[str]:
    """Options of ``srun``."""
    image = tasks.replica.image
    if not image or starter(launch, site) != PYXIS:
        return []
    mounts = ",".join(f"{source}:{source}{flags}" for source, flags in _mounts(tasks.replica, site))
    return [
        f"--container-image={_for_enroot(image)}",
        f"--container-mounts={mounts}",
        "--no-container-remap-root",
    ]


def inside(launch: Launch, site: SlurmSite) -> list[list[str]]:
    """The same for each part of the job; nothing where none has any."""
    parts = [of_step(launch, site, tasks) for tasks in tasks_of(launch.spec)]
    return parts if any(parts) else []


def before(launch: Launch, site: SlurmSite, pod: Pod) -> str:
    """Words of a shell that start the image with the command behind them; empty without one."""
    replica, program = pod.replica, starter(launch, site)
    if not replica.image or program not in SHELLS:
        return ""
    words = [program, "exec", *(["--nv"] if replica.compute.gpu_devices_request else [])]
    for source, flags in _mounts(replica, site):
        words += ["--bind", f"{source}:{source}{flags}"]
    home = ' --home "$WORK"' if replica.create_home_dir else ""
    return f'{shlex.join(words)}{home} --pwd "$WORK" {shlex.quote(_for_apptainer(replica.image))}'


def is_inside(launch: Launch, site: SlurmSite) -> bool:
    """Whether all that a rank runs is in the image: what the nodes have is not there."""
    return starter(launch, site) == PYXIS and bool(launch.spec.worker.image)


def _mounts(replica: Replica, site: SlurmSite) -> Iterator[tuple[str, str]]:
    yield site.directory, ""
    for host in replica.storage.host_path:
        yield host.path.rstrip("/"), ":ro" if host.read_only else ""


def _for_apptainer(image: str) -> str:
    if image.startswith(FILE):
        return image.removeprefix(FILE)
    return image if "://" in image else f"docker://{image}"


def _for_enroot(image: str) -> str:
    """``nvcr.io/nvidia/pytorch`` is ``nvcr.io#nvidia/pytorch`` there."""
    if image.startswith(FILE):
        return image.removeprefix(FILE)
    image = image.removeprefix("docker://")
    if "://" in image:
        return image
    host, slash, rest = image.partition("/")
    if slash and host == "docker.io":
        return rest
    is_registry = slash and ("." in host or ":" in host or host == "localhost")
    return f"{host}#{rest}" if is_registry else f"{host}{slash}{rest}"
