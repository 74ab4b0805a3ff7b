"""The rights that deploy/ grants, made of the program's list. Run as a program, it writes them."""

import yaml

from config.run.install import ROOT
from engines.kubernetes import rights

FILE = ROOT / "deploy" / "kubernetes" / "base" / "rbac.yaml"
HEAD = """\
# Made of engines/kubernetes/rights.py, which says what each right is for:
#   python -m tests.deploy.rbac
"""


def text() -> str:
    """Without the namespace, which has a file of its own."""
    _, *manifests = rights.manifests()
    return HEAD + str(yaml.safe_dump_all(manifests, sort_keys=False))


if __name__ == "__main__":
    FILE.write_text(text())
