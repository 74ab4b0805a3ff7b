"""``python -m engines.local.interpreter``: prepare the Python of the ranks, which is described as
JSON in the argument."""

import json
import os
import sys
from contextlib import suppress
from pathlib import Path

from engines.local.interpreter.installation import prepare
from engines.local.interpreter.starting import interpreter_from_json
from engines.local.records.layout import hold_lock

#: With this it has a third of the time of another process, and so goes on next to trainings.
LOW_PRIORITY = 5
#: A session has a share of the processors, whatever the priority of its processes; this sets it.
SESSION_PRIORITY = Path("/proc/self/autogroup")


def main() -> int:
    interpreter = interpreter_from_json(json.loads(sys.argv[1]))
    os.nice(LOW_PRIORITY)
    with suppress(OSError):  # not every kernel has it
        SESSION_PRIORITY.write_text(str(LOW_PRIORITY))
    try:
        with hold_lock(interpreter.lock, wait=False):
            return 1 if prepare(interpreter).has_failed else 0
    except BlockingIOError:
        return 0  # another process prepares it


if __name__ == "__main__":
    sys.exit(main())
