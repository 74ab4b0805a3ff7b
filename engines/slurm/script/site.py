"""Settings of a Slurm cluster that its jobs need."""

from collections.abc import Mapping
from dataclasses import dataclass, field

PARTITION = "slurm.partition/"
FEATURE = "slurm.feature/"
#: Programs that start images, as in the settings and in :class:`engines.base.Site`.
PYXIS = "pyxis"
APPTAINER = "apptainer"
SINGULARITY = "singularity"
NO_CONTAINERS = "none"


@dataclass(frozen=True)
class SlurmSite:
    """Settings of a Slurm cluster, made by administrators.

    ``directory`` is shared by the login node and all nodes. ``prologue`` are shell lines that each
    rank runs before its command. An empty ``account`` or ``partition`` means Slurm's default;
    ``accounts`` has projects with another account. With ``own_names`` people submit jobs under
    their own names, and Trainyard's user can read their files. ``containers`` is the program that
    starts images, or empty for the one found on the cluster.
    """

    directory: str
    account: str = ""
    partition: str = ""
    prologue: str = ""
    accounts: Mapping[str, str] = field(default_factory=dict)
    own_names: bool = False
    containers: str = ""

    @property
    def umask(self) -> str:
        """The umask of Trainyard's files: only its user may read them, or the group too if they
        belong to people."""
        return "007" if self.own_names else "077"

    def account_of(self, project: str) -> str:
        return self.accounts.get(project, self.account)
