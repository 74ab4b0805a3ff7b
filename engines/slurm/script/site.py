"""What administrators say of a Slurm cluster, as far as its jobs need it."""

from dataclasses import dataclass

PARTITION, FEATURE = "slurm.partition/", "slurm.feature/"


@dataclass(frozen=True)
class SlurmSite:
    """``directory`` is shared by login node and nodes; ``prologue`` holds lines of shell that every
    rank runs before its command. An empty ``account`` or ``partition`` is Slurm's default."""

    directory: str
    account: str = ""
    partition: str = ""
    prologue: str = ""
