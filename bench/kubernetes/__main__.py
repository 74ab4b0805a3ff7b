"""``python -m bench.kubernetes PART`` measures one part, on the cluster that KUBECONFIG names or on
one that the testbed of the tests starts."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench import report
from bench.kubernetes import submitting, verdicts, watching
from bench.kubernetes.place import place
from engines.kubernetes.client.connect import connect
from tests import kubernetes_testbed

PARTS = {"submitting": submitting.rows, "watching": watching.rows}
HOW = """Say what to measure: make bench-kubernetes B=submitting
  submitting  an API server without the training operator, and nothing else on it
  watching    the operator, and simulated nodes with room for 2,000 pods; docs/kubernetes.md
  verdicts    the operator, and simulated nodes of several types; docs/kubernetes.md
The testbed of the tests starts such a cluster, or KUBECONFIG= names one."""
PORT = 6473
#: Simulated nodes of each part: prefix, number, GPUs of each, and type.
NODES = {
    "submitting": (),
    "watching": (("fake", 20, 0, "cpu"),),
    "verdicts": (
        ("a100", 700, 8, "a100"),
        ("h100", 600, 8, "h100"),
        ("l40", 400, 4, "l40"),
        ("cpu", 300, 0, "cpu"),
    ),
}
OPERATOR = "/apis/apps/v1/namespaces/kubeflow/deployments/training-operator"
WEBHOOKS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"


def main() -> int:
    names = sys.argv[1:]
    if len(names) != 1 or names[0] not in {*PARTS, "verdicts"}:
        print(HOW)
        return 2
    (name,) = names
    with cluster_for(name) as kubeconfig:
        if name == "verdicts":  # needs no running Trainyard
            rows = list(verdicts.rows(kubeconfig))
        else:
            with place(kubeconfig) as where:
                rows = list(PARTS[name](where))
    if not rows:
        return 0  # it printed why it was skipped
    print(report.table(rows))
    report.write(rows, f"Kubernetes, {name}")
    return 0 if all(row.holds for row in rows) else 1


@contextmanager
def cluster_for(part: str) -> Iterator[Path]:
    """Yield the kubeconfig of the cluster that was named, or of one that is started for a part."""
    if given := os.environ.get("KUBECONFIG", ""):
        yield Path(given)
        return
    kubernetes_testbed.build("training")
    with kubernetes_testbed.cluster(PORT, "training") as kubeconfig:
        os.environ |= kubernetes_testbed.environment(kubeconfig)
        for prefix, count, gpus, kind in NODES[part]:
            labels = f"run.ai/type={kind}"
            words = ("--prefix", prefix, "--gpus", str(gpus), "--labels", labels)
            kubernetes_testbed.run(PORT, "fake-nodes", str(count), *words)
        if part == "submitting":
            remove_operator(kubeconfig)
        yield kubeconfig


def remove_operator(kubeconfig: Path) -> None:
    """Remove the training operator and its webhook, and leave its kinds of job."""
    api = connect(kubeconfig.read_text())
    api.delete(OPERATOR)
    for webhook in api.items(WEBHOOKS):
        api.delete(f"{WEBHOOKS}/{webhook['metadata']['name']}")


if __name__ == "__main__":
    sys.exit(main())
