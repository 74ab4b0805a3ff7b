"""Step 12, for a single workload: each kind of data source that the wizard describes."""

from tests.workloads.wizard.browser import item
from tests.workloads.wizard.sections.field_rows import FieldRow, Posted, Script

CONF = "train.yaml: |\n  lr: 0.1\n"


def source(key: str, at: int = 0, **cells: str) -> Posted:
    return item(f"worker-storage-{key}", at, **cells)


ROWS = (
    FieldRow(
        12,
        "Existing PVC",
        source("claims", claimName="shared", path="/shared"),
        {"pvc": [{"claimName": "shared", "existingPvc": True, "path": "/shared"}]},
        {"persistentVolumeClaim": {"claimName": "shared"}},
        slurm=Script("/shared"),
    ),
    FieldRow(
        12,
        "NFS",
        source("nfs", server="nas", path="/export", mountPath="/nfs", readOnly="on"),
        {"nfs": [{"server": "nas", "path": "/export", "readOnly": True}]},
        {"nfs": {"server": "nas", "path": "/export", "readOnly": True}},
        "this machine does not have nas:/export",
        "nodes mount what their administrators mount",
        of_value=True,
    ),
    FieldRow(
        12,
        "Host path",
        source("hostPath", path="/mnt/sets", mountPath="/sets-of-node", readOnly="on"),
        {"hostPath": [{"path": "/mnt/sets", "readOnly": True}]},
        {"hostPath": {"path": "/mnt/sets"}},
        "administrators do not allow /mnt/sets",
        Script("/mnt/sets"),
        of_value=True,
    ),
    FieldRow(
        12,
        "Git",
        source("git", repository="https://example.com/a.git", branch="main", path="/code"),
        {"git": [{"repository": "https://example.com/a.git", "branch": "main"}]},
        {"volumeMounts": [{"mountPath": "/code"}]},
        slurm=Script("https://example.com/a.git"),
    ),
    FieldRow(
        12,
        "S3",
        source("s3", bucket="sets", path="/sets"),
        {"s3": [{"bucket": "sets", "path": "/sets"}]},
        {"volumeMounts": [{"mountPath": "/sets"}]},
        slurm=Script("sets"),
    ),
    FieldRow(
        12,
        "ConfigMap with its files",
        source("configMapVolume", files=CONF, mountPath="/conf/train.yaml", subPath="train.yaml"),
        {"configMapVolume": [{"files": [{"name": "train.yaml", "content": "lr: 0.1\n"}]}]},
        {"volumeMounts": [{"mountPath": "/conf/train.yaml", "subPath": "train.yaml"}]},
        slurm=Script("/conf/train.yaml"),
    ),
    FieldRow(
        12,
        "Existing ConfigMap",
        source("configMapVolume", 1, configMap="settings", mountPath="/conf"),
        {"configMapVolume": [{"configMap": "settings", "mountPath": "/conf"}]},
        {"configMap": {"name": "settings"}},
        "this machine has no ConfigMaps",
        "Slurm has no ConfigMaps",
    ),
    FieldRow(
        12,
        "Secret of a credential",
        source("secretVolume", credential="hub", secret="", mountPath="/keys"),
        {"secretVolume": [{"credential": {"name": "hub", "keys": ["token"]}}]},
        {"volumeMounts": [{"mountPath": "/keys", "readOnly": True}]},
        slurm=Script("/keys"),
    ),
    FieldRow(
        12,
        "Existing Secret",
        source("secretVolume", 1, credential="", secret="regcred", mountPath="/more-keys"),
        {"secretVolume": [{"secret": "regcred"}]},
        {"secret": {"secretName": "regcred"}},
        "this machine has no Secrets",
        "Slurm has no Secrets",
    ),
    FieldRow(
        12,
        "Empty directory",
        source("emptyDirVolume", path="/scratch", medium="Memory", sizeLimit="1"),
        {"emptyDirVolume": [{"path": "/scratch", "medium": "Memory", "sizeLimit": "1G"}]},
        {"emptyDir": {"medium": "Memory", "sizeLimit": "1G"}},
        slurm=Script("/scratch"),
    ),
)
