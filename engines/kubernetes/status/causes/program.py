"""Programs of ranks that fail or cannot be started. Pure."""

from engines.base import Manifest
from engines.kubernetes.manifests.pod.fetchers import FETCHER
from engines.kubernetes.status.causes.probes import TODO
from engines.kubernetes.status.exit import (
    EXEC,
    describe_exit,
    failure_reason,
    last_line,
    start_failure,
)
from spec.problems.causes import Cause, CauseKind


def restart_cause(ended: Manifest) -> Cause:
    """The program failed, and kubelet waits before restarting it."""
    if start_failure(ended):
        return start_failure_cause(ended)
    if probe := ended.get("probe"):
        title = f"The node ended the program because its {probe} probe failed"
        return _program_cause(ended, title, TODO[probe.title()], said=describe_exit(ended))
    title = "The program failed and is waiting to be restarted"
    todo = (
        "The rank's log says why. It is restarted, after longer and longer pauses, until "
        "the backoff limit is reached. Stop the workload to end it now."
    )
    return _program_cause(ended, title, todo, said=describe_exit(ended))


def failed_rank_cause(ended: Manifest) -> Cause:
    """A rank failed before the gang was complete, and its pod is not restarted."""
    if start_failure(ended):
        return start_failure_cause(ended)
    todo = (
        "The rank's log says why. Fix it, then use Copy & edit. If the operator does not recreate "
        "its pod, Stop the workload to end it."
    )
    words = describe_exit(ended)
    return _program_cause(ended, f"The rank {words}", todo, said=words)


def start_failure_cause(ended: Manifest) -> Cause:
    why = start_failure(ended)
    if command := EXEC.match(why):
        title = f"{command['program'][:100]} cannot be started: {command['why'][:100]}"
        todo = "Check the command, and that the image contains it, then use Copy & edit."
    else:
        title = f"The container cannot be started: {why.splitlines()[-1][:100]}"
        todo = (
            "Read the message of the node's runtime. If it is about GPUs, their driver or a mount, "
            "ask the cluster's administrator."
        )
    return _program_cause(ended, title, todo, said=why)


def _program_cause(ended: Manifest, title: str, todo: str, said: str) -> Cause:
    return Cause(CauseKind.PROGRAM, title, todo, said=said, precise_reason=failure_reason(ended))


def init_failure_cause(ended: Manifest) -> Cause:
    """Return the cause when an init container failed, which ``ended`` names. Fetchers are retried
    up to the backoff limit (see ``hopeless.py``), others for ever."""
    container = ended["name"]
    said = last_line(ended)
    words = f"a rank did not start: {container} exited with code {ended['exitCode']}"
    if not container.startswith(FETCHER):
        return Cause(CauseKind.OTHER, f"{words[:1].upper()}{words[1:]}", said=said)
    todo = "Check the repository or bucket, its revision and its credential, then Copy & edit."
    return Cause(CauseKind.DATA, f"The data could not be fetched: {words}", todo, said=said)
