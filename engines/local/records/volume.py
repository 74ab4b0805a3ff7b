"""A volume of a rank, as the plan for the supervisor describes it."""

from dataclasses import dataclass

from spec.data.places import volume_variable

GIT = "git"  # a repository, fetched before the ranks start
S3 = "s3"  # a bucket, likewise
MEMORY = "memory"  # empty at each start, in memory if it is mounted
EMPTY = "empty"  # empty at the start of each run
FOLDER = "folder"
FILES = "files"  # from the launch, written before the ranks start
CLAIMS = "../../claims/"  # where claims of projects are


@dataclass(frozen=True)
class Volume:
    """A folder, or one ``file`` in it, that a rank sees at the path ``place``.

    ``source`` is absolute, or relative to the workload's folder; ``{run}`` and ``{rank}`` in it are
    filled in at the start.
    """

    kind: str
    place: str
    source: str
    is_ours: bool = True  # Trainyard creates it if missing, and only the owner may read it
    read_only: bool = False
    limit: int | None = None  # bytes
    origin: str = ""  # the address from which the content is fetched
    url: str = ""  # of the service, if the origin does not contain it
    branch: str = ""
    revision: str = ""
    credential: str = ""  # id of the credential that opens it
    mode: int = 0o600  # of each file, for the kind FILES
    file: str = ""  # the only visible file; empty: the whole folder

    @property
    def is_named(self) -> bool:
        """Whether this is a claim of the project, which other workloads may also use."""
        return self.source.startswith(CLAIMS)

    @property
    def variable(self) -> str:
        return volume_variable(self.place)
