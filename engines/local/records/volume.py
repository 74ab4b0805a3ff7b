"""A volume of a rank, as the plan for the supervisor describes it."""

from dataclasses import dataclass

from spec.data.places import variable_of

GIT = "git"  # a repository, fetched before the ranks start
S3 = "s3"  # a bucket, likewise
MEMORY = "memory"  # empty at each start, in memory if it is mounted
EMPTY = "empty"  # empty at the start of each run
FOLDER = "folder"
FILES = "files"  # from the launch, written before the ranks start
CLAIMS = "../../claims/"  # where claims of projects are


@dataclass(frozen=True)
class Volume:
    """A folder to be seen at ``place``, or one ``file`` of it.

    ``source`` is absolute, or relative to the workload's folder; ``{run}`` and ``{rank}`` in it are
    filled in at the start.
    """

    kind: str
    place: str
    source: str
    is_ours: bool = True  # created if missing, readable by nobody else
    read_only: bool = False
    limit: int | None = None  # bytes
    origin: str = ""  # address of what is fetched
    url: str = ""  # of the service, if the origin does not say
    branch: str = ""
    revision: str = ""
    credential: str = ""  # id of the credential that opens it
    mode: int = 0o600  # mode of the launch's files
    file: str = ""  # the only file that is seen, if not the whole folder

    @property
    def is_named(self) -> bool:
        """Whether it is a claim of the project, which other workloads may use, too."""
        return self.source.startswith(CLAIMS)

    @property
    def variable(self) -> str:
        return variable_of(self.place)
