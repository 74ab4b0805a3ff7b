"""Reads and writes files of the shared directory with small programs for any POSIX shell.

If jobs run as their users, the users own the files, and may replace them by a link, a pipe or
anything else at any moment. So each folder is entered before it is checked, and links are never
opened.
"""

import base64
import binascii
import io
import re
import tarfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress

from engines.base import EngineUnavailable
from engines.slurm.client.transport import TIMEOUT, CommandResult, Transport

HEADER = re.compile(r"^==> (.*) <==$", re.MULTILINE)
BATCH_SIZE = 400  # folders that one command reads
LONGEST_FACT = 8000  # bytes; the names of 100 roles are among the facts of a launch
MOST_FACTS = 2**21  # bytes of one packed folder; a rank has two files of at most 1 KiB each
MOST_AT_ONCE = 2**25  # characters of one answer; the rest is requested again
CUT = re.compile(r"^read ([1-9][0-9]*)$", re.MULTILINE)
RUN = re.compile(r"workloads/[0-9a-f]{32}/runs/[1-9][0-9]{0,3}")

FACTS = r"""
cd "$1" || exit 4
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

#: Enter a folder below ``$shared``, unless a link leads elsewhere. $1 folder.
ENTER = 'enter() { cd -P "$shared/$1" 2>/dev/null && [ "$(pwd -P)" = "$shared/$1" ]; }'
# The same for folders that users own: for each folder a line with its name and its small files,
# packed so that no file can imitate another's. If the output gets too long, the program stops and
# prints the number of folders that it has read.
FACTS_OF_PEOPLE = (
    r"""
ENTER
cd -P "$1" || exit 4
shared=$(pwd -P)
shift
open() { dd iflag=nofollow,nonblock,count_bytes,skip_bytes status=none "$@" 2>/dev/null; }
pack() {
  find . -maxdepth 1 -type f -size -LONGESTc ! -name '*.log' ! -name '*.sh' ! -name '.*' -print0 |
    tar --create --null --no-unquote --no-recursion --files-from=- 2>/dev/null |
    head -c MOST | base64 -w 0
}
told() {
  enter "$1" || return
  echo "$1 $(pack)"
  size=$(stat -c %s batch.log 2>/dev/null)
  last=$((size > 600 ? size - 600 : 0))
  [ "${size:-0}" = 0 ] ||
    echo "$1/batch.log $(open if=batch.log skip=$last count=600 | base64 -w 0)"
  a=$(open if=attempt count=9)
  case $a in
    ''|*[!0-9]*) ;;
    *) enter "$1/attempt-$a" && echo "$1/attempt-$a $(pack)" ;;
  esac
}
number=0 whole=0
for d; do
  lines=$(told "$d")
  printf '%s\n' "$lines"
  number=$((number + 1)) whole=$((whole + ${#lines}))
  [ $whole -lt AT_ONCE ] || { echo "read $number"; exit 0; }
done
exit 0
""".replace("ENTER", ENTER)
    .replace("AT_ONCE", f"{MOST_AT_ONCE}")
    .replace("LONGEST", f"{LONGEST_FACT + 1}")
    .replace("MOST", f"{MOST_FACTS}")
)

#: The number of the latest run of a workload, as ``r``. $1 its folder.
LAST_RUN = """
last_run() { [ -f "$1/run" ] && read -r r < "$1/run"; }
"""
LAST_RUN_OF_PEOPLE = r"""
last_run() {
  r=$(dd if="$1/run" iflag=nofollow,nonblock,count_bytes count=9 status=none 2>/dev/null)
  [ -n "$r" ]
}
"""
# Prints the latest run of each given workload, or of all workloads if none is given, except those
# that are links. Fails if the directory is not available, as that says nothing about the runs.
LATEST = r"""
cd "$1/workloads" && cd .. || exit 4
shift
[ $# -gt 0 ] || set -- workloads/*
for w; do
  [ ! -L "$w" ] && [ ! -L "$w/run" ] && [ ! -L "$w/runs" ] && last_run "$w" && echo "$w/runs/$r"
done
exit 0
"""


def run_program(
    transport: Transport,
    program: str,
    *arguments: str,
    stdin: bytes = b"",
    timeout: float = TIMEOUT,
) -> CommandResult:
    return transport.run(["sh", "-c", program, "sh", *arguments], stdin=stdin, timeout=timeout)


def output_of(answer: CommandResult, action: str) -> str:
    """Return the output of a command. Raises ``EngineUnavailable`` if it failed, because the
    directory may only be away for a while."""
    if answer.code:
        raise EngineUnavailable(f"{action}: {answer.message or f'exit code {answer.code}'}")
    return answer.out


def unreadable_message(directory: str) -> str:
    return f"{directory} cannot be read (is it mounted on the login node?)"


def pack_files(contents: Mapping[str, str], *, group_readable: Collection[str] = ()) -> bytes:
    """Return a tar archive of files by path. Only their owner may read them, but the group may read
    and write those in ``group_readable``."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, text in contents.items():
            data = text.encode()
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            entry.mode = 0o660 if name in group_readable else 0o600
            archive.addfile(entry, io.BytesIO(data))
    return buffer.getvalue()


def with_last_run(program: str, *, of_people: bool) -> str:
    """Return the program with the shell function ``last_run`` in front."""
    return (LAST_RUN_OF_PEOPLE if of_people else LAST_RUN) + program


def latest_runs(
    transport: Transport, directory: str, *workloads: str, of_people: bool = False
) -> list[str]:
    """Return the folders of the latest runs of workloads, relative to the directory."""
    program = with_last_run(LATEST, of_people=of_people)
    results = list[str]()
    for start in range(0, max(len(workloads), 1), BATCH_SIZE):
        answer = run_program(transport, program, directory, *workloads[start : start + BATCH_SIZE])
        lines = output_of(answer, unreadable_message(directory)).splitlines()
        results += [line for line in lines if RUN.fullmatch(line)]
    return results


def read_facts(
    transport: Transport, directory: str, folders: Sequence[str], *, of_people: bool = False
) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield each folder with the texts of its small files, by name. Answers are fetched one after
    the other, so that only one is in memory."""
    program, unpack = (FACTS_OF_PEOPLE, unpack_files) if of_people else (FACTS, _split_headed)
    start = 0
    while start < len(folders):
        requested = folders[start : start + BATCH_SIZE]
        out = output_of(
            run_program(transport, program, directory, *requested), unreadable_message(directory)
        )
        if cut := CUT.search(out) if of_people else None:
            requested = requested[: int(cut[1])]
        results: dict[str, dict[str, str]] = {folder: {} for folder in requested}
        for path, text in unpack(out):
            folder = next((it for it in _parents(path) if it in results), None)
            if folder:
                results[folder][path.removeprefix(f"{folder}/")] = text.strip("\n")
        yield from results.items()
        start += len(requested)


def _split_headed(out: str) -> Iterator[tuple[str, str]]:
    """Yield the path and text of each file in the output of ``tail``."""
    _, *parts = HEADER.split(out)
    yield from zip(parts[::2], parts[1::2], strict=True)


def unpack_files(out: str) -> Iterator[tuple[str, str]]:
    """Yield the path and text of each file that users own, from its packed form. Of a damaged
    archive, yield the files before the damage."""
    for line in out.splitlines():
        path, _, text = line.partition(" ")
        with suppress(binascii.Error, tarfile.TarError):
            data = base64.b64decode(text)
            if path.endswith("/batch.log"):
                yield path, data.decode(errors="replace")
                continue
            with tarfile.open(fileobj=io.BytesIO(data)) as archive:
                for entry in archive:
                    if file := archive.extractfile(entry) if entry.isfile() else None:
                        name = entry.name.removeprefix("./")
                        yield f"{path}/{name}", file.read().decode(errors="replace")


def _parents(path: str) -> list[str]:
    steps = path.split("/")
    return ["/".join(steps[:count]) for count in (4, 5) if count < len(steps)]
