"""Starts the preparation of the ranks' Python in a process of its own, and says how far it is."""

import json
import os
import subprocess
import sys
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from engines.findings import Finding, Level
from engines.local.interpreter.choice import Build, Interpreter, Origin
from engines.local.interpreter.record import PreparationRecord, forget_record
from engines.local.records.layout import hold_lock
from engines.local.system.inherited import ROOT, base_variables
from engines.local.system.processes import DETACH
from engines.preparation import Preparation, PreparationStage

AREA = "Python of trainings"  # of the finding
IN_PREPARATION = "Trainyard installs it. Workloads that are submitted now start once it is there."
#: Variables that pip and OpenSSL read, in addition to those of a rank.
NETWORK_VARIABLES = ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE")
PROXY_VARIABLES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


def preparation_of(interpreter: Interpreter) -> Preparation:
    """Return how far the preparation is. Nothing has to be prepared of Trainyard's own Python."""
    if interpreter.origin is Origin.OWN:
        return Preparation(PreparationStage.READY, summary=_describe_own())
    record = PreparationRecord.read(interpreter)
    return record.preparation() if record else Preparation(PreparationStage.WAITING)


@cache
def _describe_own() -> str:
    own = ".".join(map(str, sys.version_info[:3]))
    return f"Python {own} with torch {version('torch')}."


def python_finding(interpreter: Interpreter) -> Finding:
    """Return what the Python of the ranks is, or how far its preparation is."""
    preparation = preparation_of(interpreter)
    name = str(interpreter.python)
    if preparation.is_ready:
        return Finding(AREA, name, Level.OK, preparation.summary)
    if preparation.has_failed:
        text = f"{preparation.problem} {preparation.advice}"
        return Finding(AREA, name, Level.MISSING, text)
    return Finding(AREA, name, Level.WARNING, IN_PREPARATION)


def ensure_preparation(interpreter: Interpreter) -> None:
    """Start the preparation unless it is over or another process is at it. One that was killed is
    continued, and one that failed is tried again after some minutes."""
    if interpreter.origin is Origin.OWN:
        return
    record = PreparationRecord.read(interpreter)
    if record and record.is_over and not record.is_due_again:
        return
    try:
        with hold_lock(interpreter.lock, wait=False):
            pass
    except BlockingIOError:
        return
    start_preparation(interpreter)


def prepare_again(interpreter: Interpreter) -> None:
    """Forget how the last preparation ended, and start another; nothing if one is under way."""
    record = PreparationRecord.read(interpreter)
    if record and record.is_over:
        with hold_lock(interpreter.lock):  # the process that has just recorded its end holds it
            forget_record(interpreter)
    ensure_preparation(interpreter)


def start_preparation(interpreter: Interpreter) -> None:
    """Start a detached process. A second one does no harm: only one gets the lock."""
    interpreter.home.mkdir(mode=0o700, parents=True, exist_ok=True)
    description = json.dumps(interpreter_to_json(interpreter))
    with interpreter.log.open("w") as log:
        subprocess.run(
            [*DETACH, sys.executable, "-m", "engines.local.interpreter", description],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=log,
            cwd=ROOT,
            env=base_variables() | network_variables(),
            start_new_session=True,
            check=True,
        )


def network_variables() -> dict[str, str]:
    """Return the variables that say how to reach a package index."""
    return {
        name: value
        for name, value in os.environ.items()
        if name.startswith("PIP_") or name in NETWORK_VARIABLES or name.lower() in PROXY_VARIABLES
    }


def interpreter_to_json(interpreter: Interpreter) -> dict[str, Any]:
    return {
        "origin": interpreter.origin,
        "python": str(interpreter.python),
        "home": str(interpreter.home),
        "build": interpreter.build,
        "wheels": str(interpreter.wheels) if interpreter.wheels else None,
    }


def interpreter_from_json(document: dict[str, Any]) -> Interpreter:
    wheels = document["wheels"]
    return Interpreter(
        Origin(document["origin"]),
        Path(document["python"]),
        Path(document["home"]),
        Build(document["build"]),
        Path(wheels) if wheels else None,
    )
