"""The host names by which the ranks of named roles find each other.

Each rank has a file ``/etc/hosts`` of its own, with an address of this machine for every rank. Two
of them can thus listen at one port if they bind it to their own names, and mostly also the ranks of
two workloads.
"""

from collections.abc import Iterator
from pathlib import Path

from engines.base import Launch
from engines.local.records.volume import FILES, Volume
from spec.workload import Pod, WorkloadSpec

HOSTS = Path("/etc/hosts")
SOURCE = "runs/{run}/volumes/hosts"
NETS = 254  # 127.1.0.0 to 127.254.0.0; nodes of batch scripts have addresses in 127.0.0.0
RANKS_OF_A_PART = 250


def address_of(launch: Launch, pod: Pod) -> str:
    """Return the loopback address of a rank, in a net that depends on the workload."""
    net = launch.handle.workload_id.int % NETS + 1
    part, host = divmod(pod.rank, RANKS_OF_A_PART)
    return f"127.{net}.{part + 1}.{host + 1}"


def volumes(spec: WorkloadSpec) -> Iterator[Volume]:
    """Yield the volume with the file; none for a master and workers, who have no host names."""
    if spec.roles:
        yield Volume(FILES, str(HOSTS), SOURCE, read_only=True, mode=0o644, file=HOSTS.name)


def texts(launch: Launch) -> dict[str, dict[str, str]]:
    """Return the text of the file by the source of its volume: the names of this machine, and those
    of the ranks before them, which win."""
    if not launch.spec.roles:
        return {}
    system = HOSTS.read_text(errors="replace") if HOSTS.is_file() else ""
    names = [f"{address_of(launch, pod)} {' '.join(_names(pod))}" for pod in launch.spec.pods]
    return {SOURCE: {HOSTS.name: "\n".join([*names, system])}}


def _names(pod: Pod) -> Iterator[str]:
    yield pod.name
    if pod.index == 0:
        yield pod.role
