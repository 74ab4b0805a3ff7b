"""The card of a credential in a gallery."""

from assets.base import AssetCard, Columns
from assets.credential.form import KINDS
from assets.credential.model import Credential
from clusters.models import Cluster

KEYS = "Keys"
EXISTING = "Existing Secret"
COLUMNS: Columns = ((KEYS, (KEYS,)), (EXISTING, (EXISTING,)))


def draw(credential: Credential, cluster: Cluster | None) -> AssetCard:
    spec = credential.spec
    facts = [("key", KEYS, ", ".join(spec.names))] if spec.names else []
    if spec.registry:
        facts.insert(0, ("server", "Registry", spec.registry))
    if spec.known_hosts:
        facts.append(("shield-check", "Known hosts", _hosts(spec.known_hosts)))
    if spec.existing_secret:
        facts.append(("lock", EXISTING, spec.existing_secret))
    return AssetCard(facts, [(dict(KINDS)[spec.kind.value], "accent")])


def _hosts(lines: str) -> str:
    """Return the names of known hosts, each once. Hashed entries have no name."""
    words = [line.split() for line in lines.splitlines() if line.strip() and line[0] != "#"]
    names = dict.fromkeys(it[it[0].startswith("@")] for it in words)
    return ", ".join("hashed" if name.startswith("|") else name for name in names)
