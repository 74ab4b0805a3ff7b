"""The manifest of permissions in deploy/, generated from the program's list. Run as a program, this
file writes it."""

import yaml

from config.run.install import ROOT
from engines.kubernetes.cluster import rbac

FILE = ROOT / "deploy" / "kubernetes" / "base" / "rbac.yaml"
HEAD = """\
# Made of engines/kubernetes/cluster/rbac.py, which says what each right is for:
#   python -m tests.deploy.rbac
"""


def text() -> str:
    """Return the manifest, without the namespace, which has a file of its own. Pages may do less
    than workers."""
    _, *manifests = rbac.manifests()
    web = rbac.account("trainyard-web")
    own = {"name": web["name"], "namespace": web["namespace"]}
    manifests += [
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": own},
        *rbac.role_and_binding(web, rbac.rules(rbac.WEB_RIGHTS)),
    ]
    return HEAD + str(yaml.safe_dump_all(manifests, sort_keys=False))


if __name__ == "__main__":
    FILE.write_text(text())
