"""What administrators say of a Slurm cluster, as far as its jobs need it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

PARTITION, FEATURE = "slurm.partition/", "slurm.feature/"
#: What starts images on a cluster, as administrators and :class:`engines.base.Site` say it.
PYXIS, APPTAINER, SINGULARITY, NO_CONTAINERS = "pyxis", "apptainer", "singularity", "none"


@dataclass(frozen=True)
class SlurmSite:
    """``directory`` is shared by login node and nodes; ``prologue`` holds lines of shell that every
    rank runs before its command. An empty ``account`` or ``partition`` is Slurm's default;
    ``accounts`` are those of projects that have another. With ``own_names`` people submit jobs
    under their own names, and what they write is for Trainyard's user to read. ``containers`` is
    what starts images; empty: what was found there."""

    directory: str
    account: str = ""
    partition: str = ""
    prologue: str = ""
    accounts: Mapping[str, str] = field(default_factory=dict)
    own_names: bool = False
    containers: str = ""

    def account_of(self, project: str) -> str:
        return self.accounts.get(project, self.account)
