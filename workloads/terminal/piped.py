"""Run a program without a terminal, for callers that pipe data into it and read its output.

Engines give every program a terminal. A terminal echoes, changes line ends, and cannot mark the end
of input in binary data. So input is sent as lines of base64 to a shell, which decodes it into a
pipe; the output comes through a pipe too. The rank needs ``sh``, ``stty``, ``base64`` and ``cat``
for that.
"""

from base64 import b64encode
from collections.abc import Sequence

READY = b"\x01\n"  # printed once the terminal no longer echoes
LINE = 3 * 1000  # bytes; base64 makes 4000 of them, and a terminal accepts lines of up to 4095
END_OF_INPUT = b"\x04"
#: The decoder prints its process id first, so that it can be killed once the program ends.
#: Otherwise the shell would wait for the decoder, and the decoder for input that never comes.
#: Messages of the shell about the kill are discarded.
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
#: No start-up file is read, as there is no prompt to set up.
SHELL = ("/bin/sh", "-c", "command -v bash >/dev/null 2>&1 && exec bash --norc; exec sh")


def piped_command(argv: Sequence[str]) -> list[str]:
    """Return the command that runs ``argv`` with pipes instead of a terminal."""
    return ["/bin/sh", "-c", SCRIPT, "sh", *argv]


class Encoder:
    """Encodes input for the shell. Up to two bytes that do not fill a group of three are held back,
    as some decoders stop at padding."""

    def __init__(self) -> None:
        self._held_back = b""

    def encode(self, data: bytes) -> bytes:
        """Return the lines to send for ``data`` and the bytes that were held back."""
        input_bytes = self._held_back + data
        size = len(input_bytes) - len(input_bytes) % 3
        self._held_back = input_bytes[size:]
        lines = [
            b64encode(input_bytes[start : min(start + LINE, size)]) + b"\n"
            for start in range(0, size, LINE)
        ]
        return b"".join(lines)

    def encode_end(self) -> bytes:
        """Return the line for the bytes that were held back, and the end of the input."""
        rest = self._held_back
        self._held_back = b""
        if not rest:
            return END_OF_INPUT
        return b64encode(rest) + b"\n" + END_OF_INPUT
