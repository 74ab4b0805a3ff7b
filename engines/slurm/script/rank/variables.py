"""Renders the variables of a rank: for the rendezvous, of the platform, and of the user. Pure."""

import shlex
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate

from engines.base import Launch
from engines.slurm.layout import SharedFolder
from engines.slurm.script import sources
from engines.slurm.script.rank.words import quote_value, quote_word
from engines.slurm.script.shape import Tasks, group_tasks
from engines.slurm.script.site import SlurmSite
from spec.framework import Framework
from spec.values.variable import MASK, looks_secret
from spec.workload import Pod, WorkloadSpec

Variables = dict[str, str]  # values are shell words, quoted as needed


def pytorch(spec: WorkloadSpec) -> Variables:
    """Return variables for ``env://`` in plain programs, and ``PET_*`` so that a bare ``torchrun
    program.py`` joins the gang, too."""
    processes = spec.processes_per_pod or 1
    return {
        "WORLD_SIZE": str(spec.world_size),
        "LOCAL_RANK": "0",
        "PET_MASTER_ADDR": '"$MASTER_ADDR"',
        "PET_MASTER_PORT": '"$MASTER_PORT"',
        "PET_NODE_RANK": '"$RANK"',
        "PET_NNODES": str(spec.num_pods),
        "PET_NPROC_PER_NODE": str(processes),
    }


def xgboost(spec: WorkloadSpec) -> Variables:
    return {"WORLD_SIZE": str(spec.num_pods)}


def jax(spec: WorkloadSpec) -> Variables:
    return {
        "COORDINATOR_ADDRESS": '"$MASTER_ADDR"',
        "COORDINATOR_PORT": '"$MASTER_PORT"',
        "NUM_PROCESSES": str(spec.num_pods),
        "PROCESS_ID": '"$RANK"',
    }


def tensorflow(spec: WorkloadSpec) -> Variables:
    if spec.num_pods == 1:
        return {}
    return {"TF_CONFIG": f'"$(tf_config {"chief" if spec.has_master else "workers"})"'}


def mpi(spec: WorkloadSpec) -> Variables:
    """Return none: ranks find each other by mpirun, which knows the job, or by the PMI of srun."""
    return {}


#: The rendezvous variables of each framework that runs on Slurm.
RENDEZVOUS: dict[Framework, Callable[[WorkloadSpec], Variables]] = {
    Framework.PYTORCH: pytorch,
    Framework.XGBOOST: xgboost,
    Framework.JAX: jax,
    Framework.TENSORFLOW: tensorflow,
    Framework.MPI: mpi,
}
#: Frameworks whose ranks Trainyard does not start by roles of other names yet.
WITHOUT_ROLES = {Framework.TENSORFLOW}
#: Variables that the batch script and the rank's script set.
POD_VARIABLES = ("POD_NAME", "POD_INDEX", "NODE_NAME")
SCRIPT_VARIABLES = ("RANK", "ATTEMPT", "MASTER_ADDR", "MASTER_PORT", *POD_VARIABLES)
#: Rendezvous variables that users cannot override in a gang.
FIXED_IN_GANG = {"RANK", "MASTER_ADDR", "MASTER_PORT"}
FIELDS = {
    "metadata.name": '"$POD_NAME"',
    "metadata.namespace": '"$RUNAI_PROJECT"',
    "spec.nodeName": '"$NODE_NAME"',
    "status.podIP": '"$(hostname -i)"',
}


def rendezvous_variables(spec: WorkloadSpec) -> Variables:
    """Return the rendezvous variables of the workload's framework; none without a framework."""
    framework = spec.distributed_framework
    return RENDEZVOUS[framework](spec) if framework else {}


def platform_variables(launch: Launch, site: SlurmSite) -> Variables:
    """Return the platform's variables about the workload, which users may override."""
    handle = launch.handle
    parts = group_tasks(launch.spec)
    folder = SharedFolder(site.directory, handle.workload_id)
    uid = str(handle.workload_id)
    return {
        "PYTHONUNBUFFERED": "1",
        "OMP_NUM_THREADS": _threads(parts),
        "CHECKPOINT_DIR": quote_word(folder.checkpoints),
        "NODE_NAME": '"$SLURMD_NODENAME"',
        "RUNAI_PROJECT": quote_word(handle.project),
        "RUNAI_JOB_NAME": quote_word(handle.name),
        "RUNAI_JOB_UUID": uid,
        "RUNAI_NUM_OF_GPUS": _by_part(parts, lambda it: it.compute.gpu_devices_request),
        "JOB_NAME": quote_word(handle.name),
        "JOB_UUID": uid,
        "POD_INDEX": '"$RANK"',
    }


def _threads(parts: Sequence[Tasks]) -> str:
    """Return OMP_NUM_THREADS. In a heterogeneous job, Slurm would give all tasks the number of the
    last part."""
    if len(parts) == 1:
        return '"${SLURM_CPUS_PER_TASK:-1}"'
    return _by_part(parts, lambda it: it.cpus)


def _by_part(parts: Sequence[Tasks], number: Callable[[Tasks], int]) -> str:
    """Return a number if it is the same for all ranks, else an expression that distinguishes the
    parts of the job."""
    numbers = [number(part) for part in parts]
    if len(set(numbers)) == 1:
        return str(numbers[0])
    ends = accumulate(part.count for part in parts)
    choices = [f"RANK < {end} ? {it} : " for end, it in zip(ends, numbers[:-1], strict=False)]
    return f'"$(({"".join(choices)}{numbers[-1]}))"'


def user_variables(
    launch: Launch, site: SlurmSite, pod: Pod, *, masked: bool
) -> Iterator[tuple[str, str]]:
    """Yield variables with the folders of data sources, then those of the user in their order,
    because a value may refer to earlier ones. With ``masked``, secrets are left out."""
    for source in sources.pod_sources(launch, pod):
        yield source.variable, quote_word(sources.folder_of(launch, site, source))
    # As on Kubernetes, a value may refer to earlier variables and to those of the platform, but not
    # to those of the rendezvous.
    names = {*POD_VARIABLES, *_platform_names(), *_source_names(launch, pod)}
    for variable in pod.replica.environment_variables:
        if variable.name in FIXED_IN_GANG and launch.spec.kind.is_gang:
            continue
        if variable.pod_field_ref:
            yield variable.name, FIELDS[variable.pod_field_ref.path]
        elif masked and (variable.credential or looks_secret(variable.name)):
            yield variable.name, MASK
        elif variable.credential:
            yield variable.name, shlex.quote(launch.secret_of(variable))
        else:
            value = sources.replace_paths(variable.value or "", launch, site)
            is_expanded = variable.is_expanded
            yield variable.name, quote_value(value, names) if is_expanded else shlex.quote(value)
        names.add(variable.name)


def known_names(launch: Launch, pod: Pod) -> set[str]:
    """Return all variables that ``$(NAME)`` in a command can refer to."""
    users = {variable.name for variable in pod.replica.environment_variables}
    return {
        *SCRIPT_VARIABLES,
        *rendezvous_variables(launch.spec),
        *_platform_names(),
        *_source_names(launch, pod),
        *users,
    }


def _source_names(launch: Launch, pod: Pod) -> set[str]:
    return {source.variable for source in sources.pod_sources(launch, pod)}


def _platform_names() -> set[str]:
    return {
        *("CHECKPOINT_DIR", "RUNAI_PROJECT", "RUNAI_JOB_NAME", "RUNAI_JOB_UUID"),
        *("RUNAI_NUM_OF_GPUS", "JOB_NAME", "JOB_UUID", "OMP_NUM_THREADS"),
    }
