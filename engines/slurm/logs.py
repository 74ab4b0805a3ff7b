"""Read the output of ranks from the shared directory, continuing where the last read ended.

One look tells how long the logs of all running ranks are, so that only logs that grew are read.
"""

import re
import time
from collections.abc import Sequence, Set
from dataclasses import dataclass, field
from uuid import UUID

from engines.base import EngineUnavailable
from engines.logs import Log, LogChunk
from engines.slurm.client import files
from engines.slurm.client.transport import Transport
from engines.slurm.layout import SharedFolder

LOOK_SECONDS = 2.0  # between two looks at the lengths of all logs
LATE = "The shared directory does not show all of it yet."

LENGTH = re.compile(r"([0-9]+) (workloads/([0-9a-f]{32})/.+)")
NAME = re.compile(r"attempt-([0-9]{1,6})/rank-([0-9]{1,6})\.log")

# Prints length and name of each log of the latest runs. Requires last_run. $1 directory, $2…
# workloads, or none for all that changed.
LENGTHS = r"""
cd "$1" 2>/dev/null || exit 0
shift
[ $# -gt 0 ] || set -- $(ls changed 2>/dev/null)
for w; do
  w="workloads/$w"
  last_run "$w" || continue
  find "$w/runs/$r" -mindepth 2 -maxdepth 2 -name '*.log' -printf '%s %p\n' 2>/dev/null
done
exit 0
"""
LOGS = r"""
[ -d "${1%/*}" ] || { echo "${1%/*} cannot be entered" >&2; exit 4; }
cd "$1/runs/$2" 2>/dev/null || exit 0
find . -mindepth 2 -maxdepth 2 -name 'rank-*.log' -printf '%P\n'
"""
# A link could make our user read files that the owner of the link cannot. So the folder is entered
# before its path is checked, and files are opened without following links: a link that appears in
# between has no effect. $1 path of the log, without its ending; $2 bytes to skip, $3 to read.
PIECE = r"""
w=${1%/*/*/*/*} rest=${1#"${1%/*/*/*/*}"}
shared=$(cd -P "${w%/*}" && pwd -P) || exit 4 # it is away, and the log with it
cd -P "${1%/*}" 2>/dev/null && [ "$(pwd -P)" = "$shared/${w##*/}${rest%/*}" ] &&
  [ ! -L "${1##*/}.log" ] || { echo -; exit 0; } # nothing of it will come
open() { dd if="${1##*/}" iflag="nofollow,nonblock,$2" status=none "bs=64K" $3 2>/dev/null; }
ended=$(open "$1.ended" count_bytes count=100)
set -- "$1" "$2" "$3" $ended
case $6 in ''|*[!0-9]*) echo - ;; *) echo "$6" ;; esac
open "$1.log" skip_bytes,count_bytes,fullblock "skip=$2 count=$3"
exit 0
"""


@dataclass
class LogReader:
    """Reads the logs of one directory. ``of_people``: its workloads belong to people on the
    cluster."""

    transport: Transport
    directory: str
    of_people: bool = False
    _lengths: dict[str, str] = field(default_factory=dict)
    _looked: float = 0.0

    def news(self) -> Set[UUID]:
        """Workloads whose logs grew since the last call."""
        now = time.monotonic()
        if now - self._looked < LOOK_SECONDS:
            return set()
        self._looked = now
        program = files.looking(LENGTHS, of_people=self.of_people)
        answer = files.sh(self.transport, program, self.directory)
        rows = [row for line in answer.out.splitlines() if (row := LENGTH.fullmatch(line))]
        before = self._lengths
        self._lengths = {row[2]: row[1] for row in rows}
        return {UUID(row[3]) for row in rows if before.get(row[2]) != row[1]}

    def logs(self, folder: SharedFolder, run: int) -> Sequence[Log]:
        answer = files.sh(self.transport, LOGS, folder.path, str(run))
        paths = files.checked(answer, "The logs cannot be listed").split()
        names = (name for path in paths if (name := NAME.fullmatch(path)))
        places = sorted((int(name[2]), int(name[1])) for name in names)
        return [Log(run, rank, attempt) for rank, attempt in places]

    def read(self, folder: SharedFolder, log: Log, offset: int, limit: int) -> LogChunk:
        """A piece of a log. When a rank ends it records the length of its log, as the shared
        directory may show the last part of it later."""
        path = folder.log(log.run, log.rank, log.start).removesuffix(".log")
        words = ["sh", "-c", PIECE, "sh", path, str(offset), str(limit)]
        answer = self.transport.run(words)
        if answer.code:
            raise EngineUnavailable(f"A log cannot be read: {answer.said}")
        size, _, data = answer.data.partition(b"\n")
        if data:
            return LogChunk(data, str(offset + len(data)))
        whole = not size.isdigit() or offset >= int(size)
        return LogChunk(b"", str(offset), ended=whole, late="" if whole else LATE)
