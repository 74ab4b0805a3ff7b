"""The card of a data source in a gallery."""

from django.template.defaultfilters import filesizeformat

from assets.base import AssetCard, Columns, Fact
from assets.data_source.datasets.uses import find_version
from assets.data_source.form import KINDS
from assets.data_source.model import DataSource
from clusters.models import Cluster
from core.words import count_nouns
from spec.data.data_source import SourceKind
from spec.data.storage import ClaimInfo

WORDS = {
    "read_write_once": "read-write by one node",
    "read_only_many": "read-only by many",
    "read_write_many": "read-write by many",
}
#: Kind → icon, label and field that say where the data is.
WHERE = {
    SourceKind.PVC: ("database", "Claim", "claimName"),
    SourceKind.NFS: ("server", "Server", "server"),
    SourceKind.HOST_PATH: ("folder", "Path on the node", "path"),
    SourceKind.S3: ("bucket", "Bucket", "bucket"),
    SourceKind.GIT: ("brand-git", "Repository", "repository"),
    SourceKind.CONFIG_MAP: ("file-settings", "ConfigMap", "configMap"),
    SourceKind.SECRET: ("lock", "Secret", "secret"),
    SourceKind.DATASET: ("versions", "Latest version", ""),
}

FILES = "Files"
SHARED = "Path on the server"
PATH = "Container path"
OPENED_BY = "Credential"
COLUMNS: Columns = (
    ("Where", (*(name for _, name, _ in WHERE.values()), SHARED, FILES)),
    (PATH, (PATH,)),
    (OPENED_BY, (OPENED_BY,)),
)


def draw(source: DataSource, cluster: Cluster | None) -> AssetCard:
    spec = source.spec
    icon, name, key = WHERE[spec.kind]
    facts = [(icon, name, str(spec.item[key]))] if spec.item.get(key) else []
    if spec.dataset:
        facts = _version_facts(source)
    if spec.pvc and spec.pvc.claim_info:
        facts = [(icon, name, source.claim_name), *_claim_facts(spec.pvc.claim_info)]
    if spec.config_map_volume and (texts := spec.config_map_volume.texts):
        facts.append(("files", FILES, ", ".join(texts)))
    if spec.nfs:
        facts.append(("folder", SHARED, spec.nfs.path))
    if spec.git and (spec.git.revision or spec.git.branch):
        facts.append(("git-branch", "Revision", spec.git.revision or spec.git.branch or ""))
    facts.append(("folder-symlink", PATH, spec.path))
    chips = [(dict(KINDS)[spec.kind.value], "accent")]
    if spec.item.get("readOnly"):
        chips.append(("Read only", "neutral"))
    return AssetCard(facts, chips)


def _version_facts(dataset: DataSource) -> list[Fact]:
    """Return the facts of the latest version of a dataset."""
    icon, name, _ = WHERE[SourceKind.DATASET]
    latest = find_version(dataset)
    if latest is None:
        return [(icon, name, "None yet")]
    content = f"{count_nouns([(latest.num_files, 'file')])}, {filesizeformat(latest.size)}"
    return [(icon, name, str(latest.number)), ("files", FILES, content)]


def _claim_facts(info: ClaimInfo) -> list[Fact]:
    """Return the facts of a new claim."""
    modes = info.access_modes.model_dump()
    facts = [("ruler", "Size", info.size)]
    facts.append(("arrows-shuffle", "Access", ", ".join(WORDS[it] for it in WORDS if modes[it])))
    if info.storage_class:
        facts.append(("stack-2", "Storage class", info.storage_class))
    return facts
