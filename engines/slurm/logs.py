"""Reads the output of ranks from the shared directory, from where the last read ended.

One command lists the lengths of the logs of all running ranks, so that only logs that grew are
read.
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
NOT_COMPLETE = "The shared directory does not show all of it yet."

LENGTH = re.compile(r"([0-9]+) (workloads/([0-9a-f]{32})/.+)")
NAME = re.compile(r"attempt-([0-9]{1,6})/rank-([0-9]{1,6})\.log")

# Prints the length and name of each log of the latest runs. Requires last_run. $1 is the directory,
# $2… are workloads; without any, all that changed.
LOG_LENGTHS = r"""
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
LIST_LOGS = r"""
[ -d "${1%/*}" ] || { echo "${1%/*} cannot be entered" >&2; exit 4; }
cd "$1/runs/$2" 2>/dev/null || exit 0
find . -mindepth 2 -maxdepth 2 -name 'rank-*.log' -printf '%P\n'
"""
# A link could make Trainyard's user read files that the owner of the link cannot. So the folder is
# entered before its path is checked, and files are opened without following links: a link that
# appears in between has no effect. $1 is the path of the log, without its ending; $2 is the number
# of bytes to skip, $3 to read.
READ_LOG = r"""
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
    """Reads the logs of one directory. With ``of_people``, its workloads belong to users of the
    cluster."""

    transport: Transport
    directory: str
    of_people: bool = False
    _lengths: dict[str, str] = field(default_factory=dict)
    _looked: float = 0.0

    def news(self) -> Set[UUID]:
        """Return the workloads whose logs grew since the last call."""
        now = time.monotonic()
        if now - self._looked < LOOK_SECONDS:
            return set()
        self._looked = now
        program = files.with_last_run(LOG_LENGTHS, of_people=self.of_people)
        answer = files.run_program(self.transport, program, self.directory)
        rows = [*filter(None, map(LENGTH.fullmatch, answer.out.splitlines()))]
        before = self._lengths
        self._lengths = {row[2]: row[1] for row in rows}
        return {UUID(row[3]) for row in rows if before.get(row[2]) != row[1]}

    def logs(self, folder: SharedFolder, run: int) -> Sequence[Log]:
        answer = files.run_program(self.transport, LIST_LOGS, folder.path, str(run))
        paths = files.output_of(answer, "The logs cannot be listed").split()
        names = filter(None, map(NAME.fullmatch, paths))
        starts = sorted((int(name[2]), int(name[1])) for name in names)
        return [Log(run, rank, attempt) for rank, attempt in starts]

    def read(self, folder: SharedFolder, log: Log, offset: int, limit: int) -> LogChunk:
        """Read a part of a log.

        A rank that ends records the length of its log, because the shared directory may show the
        last part later. Until that length is read, more output follows.
        """
        path = folder.log(log.run, log.rank, log.start).removesuffix(".log")
        words = ["sh", "-c", READ_LOG, "sh", path, str(offset), str(limit)]
        answer = self.transport.run(words)
        if answer.code:
            raise EngineUnavailable(f"A log cannot be read: {answer.message}")
        size, _, data = answer.data.partition(b"\n")
        if data:
            return LogChunk(data, str(offset + len(data)))
        is_complete = not size.isdigit() or offset >= int(size)
        late = "" if is_complete else NOT_COMPLETE
        return LogChunk(b"", str(offset), ended=is_complete, late=late)
