"""Describe the end of a container in words, and map it to a reason."""

import re
import signal

from engines.base import Manifest
from engines.kubernetes.manifests.pod.fetchers import FETCHER
from spec.phases import Reason

#: Reasons of a program that could not be started: with containerd, with dockershim, and while
#: kubelet backs off.
START_FAILURES = frozenset({"StartError", "ContainerCannotRun", "RunContainerError"})
#: The reason of a container of which the kernel killed a process for memory.
OUT_OF_MEMORY = "OOMKilled"
#: The reason of a container that its node no longer found. Kubelet makes up its exit code, 137.
VANISHED = "ContainerStatusUnknown"
#: The last part of runc's message is what people can act on; the rest is how it got there. The
#: output of a hook, such as the GPU's, follows its "stderr:".
RUNC = re.compile(
    r"container process(?: caused)?: (?:error during container init: )?(?:.*stderr: )?(.+?)"
    r"(?:: unknown)?$",
    re.DOTALL,
)
EXEC = re.compile(r'^exec: "(?P<program>[^"]+)": (?:.+: )?(?P<why>.+)$')
LONGEST_LINE = 300  # characters of a container's last line
#: Lines that git adds to ssh's own message.
GIT_ADVICE = {
    "fatal: Could not read from remote repository.",
    "Please make sure you have the correct access rights",
    "and the repository exists.",
}
#: Why ssh does not reach a repository, the most telling line first.
SSH_FAILURES = {
    "IDENTIFICATION HAS CHANGED": "the host has a different key than known_hosts in the Secret. "
    "Make sure that it is the right host, then correct its line there",
    "host key is known for": "known_hosts of the Secret has no line for this host. Add the one "
    "that ssh-keyscan prints, once compared with what the host's owner says",
    "Load key": "the value of ssh in the Secret is not a private key, or has a passphrase",
    "Permission denied (": "the server does not accept the key in the Secret under ssh",
}


def failure_reason(ended: Manifest) -> Reason:
    if "name" not in ended and EXEC.match(start_failure(ended)):
        return Reason.COMMAND_NOT_FOUND
    if ended.get("reason") == VANISHED:
        return Reason.LOST
    return Reason.OUT_OF_MEMORY if ended.get("reason") == OUT_OF_MEMORY else Reason.RANK_FAILED


def exit_code(ended: Manifest) -> int | None:
    """The program's exit code; kubelet makes one up if it could not be started, or is lost."""
    is_made_up = start_failure(ended) or ended.get("reason") == VANISHED
    return None if is_made_up else ended.get("exitCode")


def describe_exit(ended: Manifest) -> str:
    """Describe an exit. ``name`` is set for init containers, whose commands are not the workload's;
    ``probe`` for programs that the node ended after a failed probe."""
    code = int(ended["exitCode"])
    if "name" in ended:
        said = start_failure(ended) or last_line(ended)
        words = f"did not start: {ended['name']} exited with code {code}"
        return f"{words}: {said}" if said else words
    if why := start_failure(ended):
        return f"could not be started: {why}"
    if ended.get("reason") == VANISHED:
        return "was lost: its node no longer found the container"
    if ended.get("reason") == OUT_OF_MEMORY:
        return f"exited with code {code}: it used more memory than its limit"
    if probe := ended.get("probe"):
        return f"exited with code {code} after its {probe} probe failed"
    if 128 < code < 128 + signal.NSIG and code - 128 in set(signal.Signals):
        return f"exited with code {code}, as after {signal.Signals(code - 128).name}"
    return f"exited with code {code}"


def start_failure(ended: Manifest) -> str:
    """Why the program could not be started, in the runtime's words; empty if it was started."""
    if ended.get("reason") not in START_FAILURES:
        return ""
    said = str(ended.get("message") or "the runtime does not say why")
    match = RUNC.search(said)
    return (match[1] if match else said)[:LONGEST_LINE]


def last_line(ended: Manifest) -> str:
    """The last line of a container's termination message, or the line in which ssh gives its
    reason, with an explanation."""
    lines = [line.strip() for line in str(ended.get("message") or "").split("\n")]
    lines = [line for line in lines if line and line not in GIT_ADVICE]
    for why, meaning in SSH_FAILURES.items() if ended["name"].startswith(FETCHER) else ():
        if telling := next((line for line in lines if why in line), ""):
            return f"{telling.strip('@ .')[:LONGEST_LINE]}: {meaning}"
    return lines[-1][:LONGEST_LINE].rstrip(".") if lines else ""
