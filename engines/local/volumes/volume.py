"""What a supervisor is told of one volume of a rank."""

import re
from dataclasses import dataclass

GIT = "git"  # a repository, fetched before the ranks start
MEMORY = "memory"  # empty at each start, in memory where it is mounted
EMPTY = "empty"  # empty at the start of each run
FOLDER = "folder"


@dataclass(frozen=True)
class Volume:
    """A folder at ``place``. ``source`` is absolute, or below the folder of the workload;
    ``{run}`` and ``{rank}`` in it are filled in at the start."""

    kind: str
    place: str
    source: str
    is_ours: bool = True  # created where it is missing, readable by nobody else
    read_only: bool = False
    limit: int | None = None  # bytes
    origin: str = ""  # of what is fetched
    branch: str = ""
    revision: str = ""

    @property
    def variable(self) -> str:
        """``/mnt/my-data`` is ``VOLUME_MNT_MY_DATA``."""
        return f"VOLUME_{re.sub('[^A-Z0-9]+', '_', self.place.upper()).strip('_')}"
