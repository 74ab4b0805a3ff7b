"""``python -m tests.kubernetes``: what ``make test-kubernetes`` runs; see docs/kubernetes.md.

The cluster is the one of ``KUBECONFIG``, which runs everything that it has the operators for.
Without one, a testbed starts clusters, each for a part of the tests: with the training operators,
once more for the engine alone, with Kueue, and with KAI. Tests run one at a time on each, because
they share it, and on three clusters at the same time, because they mostly wait.
"""

import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from config.run.install import ROOT
from tests import browser, kubernetes_testbed
from tests.__main__ import choose, choose_marked, marked
from tests.beside import side_by_side
from tests.kubernetes_testbed import TOOL, NoTestbed
from tests.parts import announce, exit_code, run_pytest

ENGINE = ROOT / "tests/engines/kubernetes"
CALLS_SERVICES = ENGINE / "manifests/test_tools.py"
SECOND = "--second"
THIRD = "--third"
OLDEST = "--oldest"
DID_NOT_RUN = "Kubernetes with {}: DID NOT RUN: {}"
HOW = f"""\
There is no cluster to test on, so nothing was tested: {TOOL} does not exist.
Name one, with Kubeflow's training operator and no workload on it:
  make test-kubernetes KUBECONFIG=~/.kube/config
or, as KUBERNETES_TESTBED, a program that starts clusters. See docs/kubernetes.md."""


@dataclass(frozen=True)
class Setting:
    """A cluster of the testbed: its API port, its operators, and the tests that run there.

    Only in the cluster of the tool's default port can pods reach services by their addresses.
    """

    port: int
    operators: str
    marks: str
    needs_trainer: bool = False


TRAINING = Setting(6443, "training,mpi", "kubernetes and not (kueue or kai)", needs_trainer=True)
BESIDE = replace(TRAINING, port=6453)
KUEUE = Setting(6463, "training,trainer,kueue", "kueue")
KAI = Setting(6463, "training,kai", "kai")
#: Another release has programs and clusters of its own, at another port.
OLD = replace(TRAINING, port=6543)
#: What is tested on the oldest release of the testbed.
OLD_FILES = (
    ENGINE / "test_contract.py",
    ENGINE / "manifests",
    ROOT / "tests/faults/kubernetes",
)


def main() -> int:
    only = sys.argv[1:]
    given = os.environ.get("KUBECONFIG", "").strip()
    if not given and not TOOL.exists():
        print(HOW, file=sys.stderr)
        return 0
    if given:
        path = Path(given).expanduser().resolve()
        if not path.exists():
            print(f"KUBECONFIG: there is no {path}.", file=sys.stderr)
            return 1
        chosen = choose("".join(only)) or marked("kubernetes")
        return run_on(path, "kubernetes", chosen)
    if only == [SECOND]:
        return run_setting(BESIDE, engine_files())
    if only == [THIRD]:
        return exit_code(run_setting(it, marked(it.marks)) for it in (KUEUE, KAI))
    if only == [OLDEST]:
        return run_setting(OLD, [str(path) for path in OLD_FILES])
    if only:
        return run_chosen(only[0])
    files = [path for path in marked("kubernetes") if path not in engine_files()]
    first = partial(run_setting, TRAINING, files)
    both = partial(side_by_side, first, "tests.kubernetes", SECOND)
    return side_by_side(both, "tests.kubernetes", THIRD)


def run_chosen(only: str) -> int:
    """Run the tests that a path or words choose, each on a cluster with its operators."""
    codes = []
    for setting, mark in ((TRAINING, "kubernetes"), (KUEUE, "kueue"), (KAI, "kai")):
        if choose_marked(only, mark):
            codes.append(run_setting(setting, choose(only)))
    return exit_code(codes)


def engine_files() -> list[str]:
    """Return the files with the engine's tests, except for the few that call a service by its
    address."""
    files = [Path(file) for file in marked("kubernetes")]
    return [str(it) for it in files if it.is_relative_to(ENGINE) and it != CALLS_SERVICES]


def run_setting(setting: Setting, chosen: Sequence[str]) -> int:
    """Run the chosen tests with the marks of a setting on its cluster. If that does not start,
    say so where nobody can miss it."""
    if not chosen:
        return 0
    try:
        kubernetes_testbed.build(setting.operators)
        with kubernetes_testbed.cluster(setting.port, setting.operators) as kubeconfig:
            if setting.needs_trainer:
                kubernetes_testbed.make_trainer_image(setting.port)
            os.environ |= kubernetes_testbed.environment(kubeconfig)
            return run_on(kubeconfig, setting.marks, chosen)
    except NoTestbed as error:
        announce(DID_NOT_RUN.format(setting.operators, error))
        return 0


def run_on(kubeconfig: Path, marks: str, chosen: Sequence[str]) -> int:
    """Run the chosen tests with these marks on one cluster."""
    os.environ["KUBECONFIG"] = str(kubeconfig)
    return browser.main() or run_pytest("-m", marks, *chosen)


if __name__ == "__main__":
    # If this process is terminated, the clusters are stopped, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.exit(main())
