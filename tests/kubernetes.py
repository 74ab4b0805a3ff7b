"""``python -m tests.kubernetes``: what ``make test-kubernetes`` runs; see docs/kubernetes.md.

The cluster is the one of ``KUBECONFIG``, or else a control plane from the programs in
``KUBEBUILDER_ASSETS`` with the CRDs in ``KUBEBUILDER_CRDS``. Its tests run one at a time, because
they share it. If ``KUBECONFIG_BESIDE`` names a second cluster, the tests of the engine run there at
the same time, except for the few that call a service by its address.
"""

import os
import shutil
import sys
import tempfile
from pathlib import Path

from config.run.install import ROOT
from tests import browser
from tests.__main__ import choose, marked
from tests.beside import side_by_side
from tests.controlplane import PROGRAMS, ControlPlane
from tests.parts import run_pytest

ARGUMENTS = ["-m", "kubernetes"]
ENGINE = ROOT / "tests/engines/kubernetes"
CALLS_SERVICES = ENGINE / "manifests/test_tools.py"
HOW = """\
There is no cluster to test on. Name one, with Kubeflow's training operator and no workload on it:
  make test-kubernetes KUBECONFIG=~/.kube/config
or the programs of a control plane; tests that need pods are then skipped:
  make test-kubernetes KUBEBUILDER_ASSETS=… KUBEBUILDER_CRDS=…
The first is a folder with etcd, kube-apiserver and kubectl, as `setup-envtest use -p path` prints;
the second one with the CRDs of Kubeflow's training and MPI operators. See docs/kubernetes.md."""


class NoCluster(Exception):
    """There is no cluster to test on; the message says what to do."""


def main() -> int:
    only = sys.argv[1:]
    chosen = (only if len(only) > 1 else choose("".join(only))) or marked("kubernetes")
    try:
        if given := os.environ.get("KUBECONFIG", "").strip():
            kubeconfig = folder(given, "KUBECONFIG")
            beside = "" if only else os.environ.get("KUBECONFIG_BESIDE", "").strip()
            return on_two(kubeconfig, beside, chosen) if beside else on(kubeconfig, chosen)
        return on_control_plane(chosen)
    except NoCluster as error:
        print(error, file=sys.stderr)
        return 1


def on(kubeconfig: Path, chosen: list[str]) -> int:
    """Run the chosen tests on one cluster."""
    os.environ["KUBECONFIG"] = str(kubeconfig)
    return browser.main() or run_pytest(*ARGUMENTS, *chosen)


def on_two(kubeconfig: Path, beside: str, chosen: list[str]) -> int:
    """Run the engine's tests on the second cluster, and at the same time all others on the
    first."""
    engine = [it for it in chosen if Path(it).is_relative_to(ENGINE) and Path(it) != CALLS_SERVICES]
    others = [it for it in chosen if it not in engine]
    second = str(folder(beside, "KUBECONFIG_BESIDE"))
    return side_by_side(
        lambda: on(kubeconfig, others), "tests.kubernetes", *engine, KUBECONFIG=second
    )


def on_control_plane(chosen: list[str]) -> int:
    """Run the chosen tests on a control plane that is started for them. Raises ``NoCluster``."""
    assets, crds = (os.environ.get(f"KUBEBUILDER_{name}", "") for name in ("ASSETS", "CRDS"))
    if not assets or not crds:
        raise NoCluster(HOW)
    programs = folder(assets, "KUBEBUILDER_ASSETS")
    if missing := [name for name in PROGRAMS if not (programs / name).exists()]:
        raise NoCluster(f"KUBEBUILDER_ASSETS: {programs} has no {', '.join(missing)}.")
    place = Path(tempfile.mkdtemp(prefix="trainyard-control-plane-"))
    plane = ControlPlane(programs, place)
    try:
        plane.start()
        plane.apply(folder(crds, "KUBEBUILDER_CRDS"))
        code = on(plane.kubeconfig, chosen)
    finally:
        plane.stop()
    shutil.rmtree(place)  # not after a failed start, whose logs are in it
    return code


def folder(given: str, name: str) -> Path:
    """Return the path that a variable names. Raises ``NoCluster`` if nothing is there."""
    path = Path(given).expanduser().resolve()
    if not path.exists():
        raise NoCluster(f"{name}: there is no {path}.")
    return path


if __name__ == "__main__":
    sys.exit(main())
