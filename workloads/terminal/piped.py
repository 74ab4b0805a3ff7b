"""A program without a terminal of its own, for whoever pipes into it and reads what it prints.

Engines give every program a terminal, which echoes, changes line ends, and has no end of input that
any byte may come before. So what is typed goes as base64, line by line, to a shell that makes a
pipe of it; its output is a pipe too. That needs ``sh``, ``stty``, ``base64`` and ``cat`` there.
"""

from base64 import b64encode
from collections.abc import Sequence

READY = b"\x01\n"  # printed when nothing is echoed any more
LINE = 3 * 1000  # bytes, of which base64 makes 4000: a terminal takes lines of 4095
END_OF_INPUT = b"\x04"
#: The decoder says its number first, so that it ends with the program: else the shell would wait
#: for it, and it for input that nobody sends. Of that end shells have words, which nobody reads.
SCRIPT = r"""
stty -echo -onlcr -isig -ixon
code=$?
printf '\001\n'
[ "$code" = 0 ] || exit 126
exec 3>&1 5>&2 2>/dev/null
code=$({
  sh -c 'echo $$; exec base64 -d' | {
    read -r decoder
    "$@" 2>&5 3>&- 4>&- 5>&-
    code=$?
    kill "$decoder"
    echo "$code" >&4
  } | cat >&3
} 4>&1)
exit "$code"
"""
#: Without a prompt there is nothing to read a start-up file for.
SHELL = ("/bin/sh", "-c", "command -v bash >/dev/null 2>&1 && exec bash --norc; exec sh")


def around(argv: Sequence[str]) -> list[str]:
    return ["/bin/sh", "-c", SCRIPT, "sh", *argv]


class Encoder:
    """What is sent to the shell for what is typed. Bytes that fill no group of three wait for more,
    as not every decoder goes on after padding."""

    def __init__(self) -> None:
        self._left = b""

    def take(self, data: bytes) -> bytes:
        whole = self._left + data
        size = len(whole) - len(whole) % 3
        self._left = whole[size:]
        return b"".join(
            b64encode(whole[at : min(at + LINE, size)]) + b"\n" for at in range(0, size, LINE)
        )

    def end(self) -> bytes:
        rest, self._left = self._left, b""
        return (b64encode(rest) + b"\n" if rest else b"") + END_OF_INPUT
