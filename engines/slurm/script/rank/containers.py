"""Starts ranks in their images, on clusters that have containers: with pyxis, a plugin of srun, or
with apptainer, which the script of the rank calls. Pure.

In both cases, the shared directory and host paths have the same paths as on the nodes, so that
ranks find scripts, checkpoints and fetched data.
"""

import shlex
from collections.abc import Iterator

from engines.base import Launch
from engines.slurm.script.rank import volumes
from engines.slurm.script.shape import Tasks, group_tasks, has_launcher, script_text
from engines.slurm.script.site import APPTAINER, NO_CONTAINERS, PYXIS, SINGULARITY, SlurmSite
from spec.problems.errors import Problem, parse_path
from spec.workload import Pod, Replica

FILE = "file://"
WRAPPERS = {APPTAINER, SINGULARITY}
NO_MOUNTS = (
    "Trainyard does not mount files and volumes in images of pyxis yet; its administrators can let "
    "apptainer start images, or leave the image out"
)
NOT_USED = "is not used: {why}, so ranks run the programs of the nodes"


def container_program(launch: Launch, site: SlurmSite) -> str:
    """Return the program that starts images for this launch; empty if it runs without images."""
    chosen = site.containers or launch.site.containers
    if chosen == NO_CONTAINERS or script_text(launch.spec) or has_launcher(launch.spec):
        return ""
    return chosen


def unused_images(launch: Launch, site: SlurmSite) -> Iterator[Problem]:
    """Yield a problem for each image that has no effect."""
    if container_program(launch, site) or script_text(launch.spec):
        return
    why = _reason_unused(launch, site)
    for role in launch.spec.described_roles:
        if role.replica.image:
            yield Problem(parse_path(f"{role.path}.image"), NOT_USED.format(why=why))


def _reason_unused(launch: Launch, site: SlurmSite) -> str:
    if site.containers == NO_CONTAINERS:
        return "the cluster's administrators turned containers off"
    if site.containers or launch.site.containers:
        return "an MPI launcher starts the workers itself"
    return "the cluster has neither pyxis nor apptainer"


def complaints(launch: Launch, site: SlurmSite) -> Iterator[tuple[str, str]]:
    """Yield problems with pyxis, which has one image and the same mounts for all tasks of a
    step."""
    if container_program(launch, site) != PYXIS:
        return
    spec = launch.spec
    master = spec.master
    worker = spec.worker
    if master and master.image != worker.image:
        text = f"with pyxis all ranks have one image; choose {worker.image or 'none'}, as workers"
        yield "master.image", text
    for role in spec.described_roles:
        if role.replica.image and volumes.has_mounts(spec, role.replica):
            place = "roles" if spec.roles else f"{role.path}.storage"
            yield place, NO_MOUNTS
            return


def step_options(launch: Launch, site: SlurmSite, tasks: Tasks) -> list[str]:
    """Return the options of ``srun`` that start the tasks in their image; none without pyxis or an
    image."""
    image = tasks.replica.image
    if not image or container_program(launch, site) != PYXIS:
        return []
    mounts = ",".join(f"{source}:{source}{flags}" for source, flags in _mounts(tasks.replica, site))
    return [
        f"--container-image={_for_enroot(image)}",
        f"--container-mounts={mounts}",
        "--no-container-remap-root",
    ]


def part_options(launch: Launch, site: SlurmSite) -> list[list[str]]:
    """Return ``step_options`` for each part of the job; empty if no part has any."""
    parts = [step_options(launch, site, tasks) for tasks in group_tasks(launch.spec)]
    return parts if any(parts) else []


def image_prefix(launch: Launch, site: SlurmSite, pod: Pod) -> str:
    """Return the shell words in front of a command that start it in its image; empty without an
    image."""
    replica = pod.replica
    program = container_program(launch, site)
    if not replica.image or program not in WRAPPERS:
        return ""
    words = [program, "exec", *(["--nv"] if replica.compute.gpu_devices_request else [])]
    for source, flags in _mounts(replica, site):
        words += ["--bind", f"{source}:{source}{flags}"]
    mounted = volumes.mounts_of(launch, site, pod, in_image=True)
    binds = "".join(f" {option}" for option in volumes.image_options(mounted))
    home = ' --home "$WORK"' if replica.create_home_dir else ""
    options = f'{binds}{home} --pwd "$WORK"'
    return f"{shlex.join(words)}{options} {shlex.quote(_for_apptainer(replica.image))}"


def runs_in_image(launch: Launch, site: SlurmSite) -> bool:
    """Whether everything that a rank runs is in the image, without the programs of the node."""
    return container_program(launch, site) == PYXIS and bool(launch.spec.worker.image)


def _mounts(replica: Replica, site: SlurmSite) -> Iterator[tuple[str, str]]:
    yield site.directory, ""
    for host in replica.storage.host_path:
        if volumes.is_elsewhere(host):
            continue
        yield host.path.rstrip("/"), ":ro" if host.read_only else ""


def _for_apptainer(image: str) -> str:
    if image.startswith(FILE):
        return image.removeprefix(FILE)
    return image if "://" in image else f"docker://{image}"


def _for_enroot(image: str) -> str:
    """Return the image's name for enroot, which writes ``nvcr.io/nvidia/pytorch`` as
    ``nvcr.io#nvidia/pytorch``."""
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
