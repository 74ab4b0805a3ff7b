"""A round of killing: workloads are submitted, stopped, run again and deleted while processes of
Trainyard are killed."""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import httpx
import psutil

from tests.product import PROGRAMS, Trainyard
from tests.rest import Rest
from tests.waiting import wait_for

WINDOW = 7.0  # seconds in which requests are sent and processes are killed
KILLS = 4
PATIENCE = 90.0  # seconds until all is over: each restart of a program is later than the last
WHOLE_GPU = {"gpuDevicesRequest": 1}
SUPERVISOR = "supervisor"
EVERYTHING = "everything"
VICTIMS = (*PROGRAMS, SUPERVISOR, EVERYTHING)


@dataclass(frozen=True)
class Case:
    """A workload that prints ``tick 1`` to ``tick TICKS`` and exits with ``code``. It must reach
    the phase ``ends``, or be deleted if that is empty. ``then`` are the verbs that it gets."""

    kind: str
    ends: str
    ticks: int = 10
    code: int = 0
    workers: int = 1
    then: tuple[str, ...] = ()
    spec: dict[str, Any] = field(default_factory=dict)

    @property
    def lines(self) -> list[str]:
        """The lines of its complete log."""
        return [f"tick {n}" for n in range(1, self.ticks + 1)]

    def command(self, gate: Path) -> str:
        """Return its command. One that is resumed waits in its first run for the file ``gate``,
        however late it is stopped."""
        count = f"for i in $(seq {self.ticks}); do echo tick $i; sleep 0.25; done"
        wait = f"until [ -e {gate} ]; do sleep 0.2; done; " if "resume" in self.then else ""
        return f"sh -c '{count}; {wait}exit {self.code}'"


CASES = (
    Case("counts", "Completed", workers=2),
    Case("fills", "Completed", workers=2, spec={"compute": WHOLE_GPU}),
    Case("waits", "Completed", workers=2, spec={"compute": WHOLE_GPU}),
    Case("fails", "Failed", code=3, spec={"backoffLimit": 0}),
    Case("stops", "Stopped", ticks=400, then=("suspend",)),
    Case("resumes", "Completed", then=("suspend", "resume")),
    Case("goes", "", ticks=400, then=("delete",)),
)


@dataclass
class Round:
    """One round, whose plan follows from the seed of ``random``."""

    trainyard: Trainyard
    rest: Rest
    random: Random
    name: str
    ids: dict[str, str] = field(default_factory=dict)  # workload of each case
    bereft: Counter[str] = field(default_factory=Counter)  # supervisors that each case lost

    @property
    def gate(self) -> Path:
        """The file that resumed workloads wait for."""
        return self.trainyard.home / f"{self.name}.gate"

    def play(self) -> None:
        """Do everything in the plan, each at its moment."""
        began = time.monotonic()
        for at, what, act in sorted(self._plan(), key=lambda step: step[0]):
            wait_for(partial(is_past, began + at), WINDOW, "the moment")
            print(f"{time.monotonic() - began:5.1f} s: {what}")  # noqa: T201 -- with a failure
            act()

    def _plan(self) -> Iterator[tuple[float, str, Callable[[], None]]]:
        """Yield what happens: after how many seconds, in words, and the call that does it."""
        random = self.random
        for case in CASES:
            at = random.uniform(0, WINDOW / 2)
            yield at, f"submit {case.kind}", partial(self._submit, case)
            for verb in case.then:
                at += random.uniform(0.1, WINDOW / 2)
                yield at, f"{verb} {case.kind}", partial(self._ask, case, verb)
        for _ in range(KILLS):
            victim = random.choice(VICTIMS)
            yield random.uniform(0.5, WINDOW), f"kill {victim}", partial(self._kill, victim)

    def _submit(self, case: Case) -> None:
        body = self.rest.document(
            f"{self.name}-{case.kind}",
            workers=case.workers,
            command=case.command(self.gate),
            **case.spec,
        )
        answer = self._surely("POST", "/workloads/distributed", body)
        self.ids[case.kind] = str(answer.get("workloadId") or self._id_of(body["name"]))

    def _ask(self, case: Case, verb: str) -> None:
        address = f"/workloads/distributed/{self.ids[case.kind]}"
        if verb == "delete":
            self._surely("DELETE", address)
            return
        if verb == "resume":
            self.reach(case, "Stopped")
            self.gate.touch()
        self._surely("POST", f"{address}/{verb}")

    def reach(self, case: Case, *phases: str) -> str:
        """Wait until the workload of a case is in one of these phases, and return that phase."""
        workload = self.ids[case.kind]
        try:
            return self.rest.wait(workload, *phases, timeout=PATIENCE)
        except AssertionError as error:
            told = [self.rest.read(workload), *self.rest.events(workload)]
            raise AssertionError("\n".join([str(error), *map(str, told)])) from error

    def _id_of(self, name: str) -> str:
        rows = self._surely("GET", f"/workloads?filterBy=name=={name}")["workloads"]
        return str(rows[0]["id"])

    def _surely(self, method: str, path: str, body: Any = None) -> Any:
        """Send a request until something answers, and return the JSON.

        If an answer was lost, the next request may be refused because the first one had its effect.
        """
        tries = 0

        def answered() -> httpx.Response | None:
            nonlocal tries
            tries += 1
            with suppress(httpx.TransportError):
                answer = self.rest.http.request(method, path, json=body)
                return answer if answer.status_code < 500 else None
            return None

        answer = wait_for(answered, PATIENCE, f"an answer to {method} {path}", every=0.1)
        assert answer is not None
        assert answer.is_success or tries > 1, f"{method} {path}: {answer.text}"
        return answer.json() if answer.is_success and answer.content else {}

    def _kill(self, victim: str) -> None:
        if victim == EVERYTHING:
            self.trainyard.kill_everything()
            self.trainyard.start()
        elif victim == SUPERVISOR:
            self._kill_a_supervisor()
        else:
            with suppress(ProcessLookupError):  # it died a moment ago, and restarts
                self.trainyard.kill(victim)

    def _kill_a_supervisor(self) -> None:
        """Kill the supervisor of any workload that has one. Its attempt is lost, which must
        show."""
        alive = supervisors(self.trainyard)
        kind = self.random.choice(
            [kind for kind, one in sorted(self.ids.items()) if one in alive] or [""]
        )
        if process := alive.get(self.ids.get(kind, "")):
            self.bereft[kind] += 1
            with suppress(psutil.NoSuchProcess):
                process.kill()


def is_past(moment: float) -> bool:
    return time.monotonic() >= moment


def supervisors(trainyard: Trainyard) -> dict[str, psutil.Process]:
    """Return the running supervisors, by the id of their workload."""
    folder = str(trainyard.home / "engine" / "workloads")
    return {
        Path(arguments[-1]).name: process
        for process in psutil.process_iter(["cmdline"])
        if "engines.local.supervisor" in (arguments := process.info["cmdline"] or [])
        and arguments[-1].startswith(folder)
    }
