"""Volumes and data sources, as Run:ai's form asks for them; the lists of ``spec.storage``."""

from dataclasses import replace

from workloads.forms.kinds import Cell, Field, Kind, Part

STORAGE = "storage"
EXISTING = "existingPvc"


def _path(key: str = "path") -> Cell:
    return Cell(key, "Container path", required=True, placeholder="/data")


def _read_only(*, initial: bool) -> Cell:
    return Cell("readOnly", "Read only", Part.FLAG, initial=initial)


def _text(key: str, label: str, example: str = "", *, required: bool = False) -> Cell:
    return Cell(key, label, placeholder=example, required=required)


MODES = "claimInfo.accessModes"
VOLUME = (
    Cell(
        "claimInfo.storageClass",
        "Storage class",
        Part.SELECT,
        options=(("", "The cluster’s default"),),
        choices="storage_classes",
    ),
    Cell("claimInfo.size", "Claim size", Part.AMOUNT, required=True, placeholder="10"),
    Cell(
        "claimInfo.volumeMode",
        "Volume mode",
        Part.SELECT,
        options=(("", "Filesystem"), ("Block", "Block")),
    ),
    _path(),
    Cell(
        "ephemeral",
        "Persistency",
        Part.FLAG,
        options=(("", "Persistent"), ("on", "Ephemeral")),
    ),
    Cell(f"{MODES}.readWriteOnce", "Read-write by one node", Part.FLAG, initial=True),
    Cell(f"{MODES}.readOnlyMany", "Read-only by many nodes", Part.FLAG),
    Cell(f"{MODES}.readWriteMany", "Read-write by many nodes", Part.FLAG),
)
#: key, label, label of the button, cells
SOURCES = (
    (
        "nfs",
        "NFS",
        "NFS",
        (
            _text("server", "Server", "nfs.example.com", required=True),
            _text("path", "Path on the server", "/export/data", required=True),
            _path("mountPath"),
            _read_only(initial=True),
        ),
    ),
    (
        "hostPath",
        "Host path",
        "HOST PATH",
        (
            _text("path", "Path on the node", "/mnt/data", required=True),
            _path("mountPath"),
            _read_only(initial=True),
        ),
    ),
    (
        "configMapVolume",
        "ConfigMap",
        "CONFIGMAP",
        (
            _text("configMap", "ConfigMap", required=True),
            _path("mountPath"),
            _text("subPath", "One file of it", "train.yaml"),
        ),
    ),
    (
        "secretVolume",
        "Secret",
        "SECRET",
        (
            _text("secret", "Secret", required=True),
            _path("mountPath"),
        ),
    ),
    (
        "git",
        "Git repository",
        "GIT",
        (
            _text("repository", "Repository", "https://… or git@host:path", required=True),
            _text("branch", "Branch"),
            _text("revision", "Tag or commit"),
            _path(),
            _text("secretRef.name", "Secret with the password or SSH key"),
        ),
    ),
    (
        "s3",
        "S3 bucket",
        "S3",
        (
            _text("bucket", "Bucket", required=True),
            _text("url", "Service URL", "empty: AWS"),
            _path(),
            _text("accessKeySecret", "Secret with the keys"),
        ),
    ),
    (
        "emptyDirVolume",
        "Empty directory",
        "EMPTY DIRECTORY",
        (
            _path(),
            Cell("medium", "Kept", Part.SELECT, options=(("", "On disk"), ("Memory", "In memory"))),
            Cell("sizeLimit", "Size limit", Part.AMOUNT),
        ),
    ),
)
CLAIM = (_text("claimName", "Claim", required=True), _path(), _read_only(initial=False))


def storage_fields(role: str, page: int) -> tuple[Field, ...]:
    """New claims and those that exist stand in one list, told apart by ``existingPvc``."""

    def items(key: str, label: str, add: str, cells: tuple[Cell, ...]) -> Field:
        return Field(
            f"storage.{key}", label, page, Kind.ITEMS, role, section=STORAGE, add=add, cells=cells
        )

    new = replace(items("pvc", "Volume", "VOLUME", VOLUME), mark=((EXISTING, False),))
    claim = items("pvc", "Existing PVC", "EXISTING PVC", CLAIM)
    return (
        new,
        replace(claim, alias="storage-claims", mark=((EXISTING, True),)),
        *(items(*source) for source in SOURCES),
    )
