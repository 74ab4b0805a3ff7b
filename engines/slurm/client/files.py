"""Files of the shared directory, by small programs that any POSIX shell runs."""

import io
import re
import tarfile
from collections.abc import Collection, Mapping, Sequence

from engines.base import EngineUnavailable
from engines.slurm.client.transport import TIMEOUT, CommandResult, Transport

HEADER = re.compile(r"^==> (.*) <==$", re.MULTILINE)
PACK = 400  # folders that are looked into by one command
LONGEST_FACT = 4000  # bytes

FACTS = r"""
cd "$1" 2>/dev/null || exit 0
shift
for d; do
  a=; [ -e "$d/attempt" ] && read -r a < "$d/attempt" && set -- "$@" "$d/attempt-$a"
done
print() { # $1 bytes of each at most, $2… how find tells them
  count=$1
  shift
  find "$@" -exec sh -c 'echo; exec tail -v -c "$0" "$@"' "$count" {} + 2>/dev/null
}
print LONGEST "$@" -maxdepth 1 -type f ! -name '*.log' ! -name '*.sh' ! -name '.*'
print 600 "$@" -maxdepth 1 -type f -name batch.log -size +0
exit 0
""".replace("LONGEST", str(LONGEST_FACT))

# The latest run of one workload or, without any, of all; none that leads elsewhere.
LATEST = r"""
cd "$1" 2>/dev/null || exit 0
shift
[ $# -gt 0 ] || set -- workloads/*
for w; do
  [ -f "$w/run" ] && [ ! -L "$w" ] && [ ! -L "$w/run" ] && [ ! -L "$w/runs" ] || continue
  read -r r < "$w/run" && echo "$w/runs/$r"
done
"""


def sh(
    transport: Transport,
    program: str,
    *arguments: str,
    stdin: bytes = b"",
    timeout: float = TIMEOUT,
) -> CommandResult:
    return transport.run(["sh", "-c", program, "sh", *arguments], stdin=stdin, timeout=timeout)


def checked(answer: CommandResult, what: str) -> str:
    """What it printed. ``EngineUnavailable`` where it failed: a directory may be away for now."""
    if answer.code:
        raise EngineUnavailable(f"{what}: {answer.said or f'exit code {answer.code}'}")
    return answer.out


def packed(contents: Mapping[str, str], *, shown: Collection[str] = ()) -> bytes:
    """A tar archive of files that only their owner may read, by path; their group may read and
    write those that are ``shown``."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, text in contents.items():
            data = text.encode()
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(data), 0o660 if name in shown else 0o600
            archive.addfile(entry, io.BytesIO(data))
    return buffer.getvalue()


def latest_runs(transport: Transport, directory: str, *workloads: str) -> list[str]:
    """Their folders, relative to the directory."""
    results: list[str] = []
    for start in range(0, max(len(workloads), 1), PACK):
        answer = sh(transport, LATEST, directory, *workloads[start : start + PACK])
        results += checked(answer, f"{directory} cannot be read").split()
    return results


def facts(
    transport: Transport, directory: str, folders: Sequence[str]
) -> dict[str, dict[str, str]]:
    """What is written in the folders, by folder and name of the file below it."""
    results: dict[str, dict[str, str]] = {folder: {} for folder in folders}
    for start in range(0, len(folders), PACK):
        answer = sh(transport, FACTS, directory, *folders[start : start + PACK])
        out = checked(answer, f"{directory} cannot be read")
        _, *parts = HEADER.split(out)
        for path, text in zip(parts[::2], parts[1::2], strict=True):
            folder = next((it for it in _parents(path) if it in results), None)
            if folder:
                results[folder][path.removeprefix(f"{folder}/")] = text.strip("\n")
    return results


def _parents(path: str) -> list[str]:
    steps = path.split("/")
    return ["/".join(steps[:count]) for count in (4, 5) if count < len(steps)]
