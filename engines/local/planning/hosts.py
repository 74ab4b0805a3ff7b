"""The host names by which the ranks of named roles find each other.

Each rank has a file ``/etc/hosts`` of its own, with an address of this machine for every rank, so
that two of them can listen at one port if they bind it to their own names.
"""

from collections.abc import Iterator
from pathlib import Path

from engines.local.records.volume import FILES, Volume
from spec.workload import Pod, WorkloadSpec

HOSTS = Path("/etc/hosts")
SOURCE = "runs/{run}/volumes/hosts"
RANKS_OF_A_NET = 250


def address_of(pod: Pod) -> str:
    """Return the loopback address of a rank, beside those of a batch script's nodes."""
    net, host = divmod(pod.rank, RANKS_OF_A_NET)
    return f"127.0.{net + 1}.{host + 1}"


def volumes(spec: WorkloadSpec) -> Iterator[Volume]:
    if spec.roles:
        yield Volume(FILES, str(HOSTS), SOURCE, read_only=True, mode=0o644, file=HOSTS.name)


def texts(spec: WorkloadSpec) -> dict[str, dict[str, str]]:
    """Return the text of the file by the source of its volume: the names of this machine, and those
    of the ranks before them, which win."""
    if not spec.roles:
        return {}
    system = HOSTS.read_text(errors="replace") if HOSTS.is_file() else ""
    names = [f"{address_of(pod)} {' '.join(_names(pod))}" for pod in spec.pods]
    return {SOURCE: {HOSTS.name: "\n".join([*names, system])}}


def _names(pod: Pod) -> Iterator[str]:
    yield pod.name
    if pod.index == 0:
        yield pod.role
