"""Who runs a batch script as it stands."""

from enum import StrEnum


class ScriptHost(StrEnum):
    """Slurm, or this machine, which has one node and none of Slurm's rules for sites."""

    SLURM = "slurm"
    MACHINE = "machine"
