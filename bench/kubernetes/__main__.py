"""``python -m bench.kubernetes PART`` measures one part on the cluster that KUBECONFIG names."""

import os
import sys
from pathlib import Path

from bench import report
from bench.kubernetes import submitting, verdicts, watching
from bench.kubernetes.place import place

PARTS = {"submitting": submitting.rows, "watching": watching.rows}
HOW = """Say what to measure and where: make bench-kubernetes B=submitting KUBECONFIG=...
  submitting  an API server without the training operator, and nothing else on it
  watching    the operator, and simulated nodes with room for 2,000 pods; docs/kubernetes.md
  verdicts    the operator, and simulated nodes of several types; docs/kubernetes.md"""


def main() -> int:
    names = sys.argv[1:]
    kubeconfig = os.environ.get("KUBECONFIG", "")
    if len(names) != 1 or names[0] not in {*PARTS, "verdicts"} or not kubeconfig:
        print(HOW)
        return 2
    if names == ["verdicts"]:  # needs no running Trainyard
        rows = list(verdicts.rows(Path(kubeconfig)))
    else:
        with place(Path(kubeconfig)) as where:
            rows = list(PARTS[names[0]](where))
    if not rows:
        return 0  # it printed why it was skipped
    print(report.table(rows))
    report.write(rows, f"Kubernetes, {names[0]}")
    return 0 if all(row.holds for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
