"""Section: volumes and data sources, as in Run:ai's form; the lists of ``spec.storage``."""

from collections.abc import Iterator
from dataclasses import replace

from assets.data_source import files
from assets.data_source.kind import DATA_SOURCE
from core.forms.field import Cell, Input, Repack, Values
from spec.data.storage import NO_CLASS
from workloads.plan import Plan
from workloads.wizard.sections.base import (
    NOT_ON_CLUSTER,
    Question,
    ReviewLine,
    Section,
    reviewed_replica,
)

EXISTING = "existingPvc"
CREDENTIAL = "credential"
STORED_CREDENTIAL = "named"  # key among the cells for the credential in its stored form


def _path_cell(key: str = "path") -> Cell:
    return Cell(key, "Container path", required=True, placeholder="/data")


def _read_only_cell(*, initial: bool) -> Cell:
    return Cell("readOnly", "Read only", Input.FLAG, initial=initial)


def _text_cell(key: str, label: str, example: str = "", *, required: bool = False) -> Cell:
    return Cell(key, label, placeholder=example, required=required)


def _credential_cell(choices: str) -> Cell:
    """Return a cell that chooses a credential by its name. Of several with that name, the nearest
    scope wins."""
    return Cell(
        CREDENTIAL,
        "Credential",
        Input.SELECT,
        options=(("", "None"),),
        choices=choices,
        missing="cannot be used here",
        fills=False,
    )


def _unpack_credential(item: Values) -> Values:
    """Return the cells of an item. Its credential becomes a name, next to the stored reference."""
    reference = item.get(CREDENTIAL)
    if not isinstance(reference, dict):
        return {key: value for key, value in item.items() if key != CREDENTIAL}
    return {**item, CREDENTIAL: _credential_name(reference), STORED_CREDENTIAL: reference}


def _pack_credential(cells: Values) -> Values:
    """Build the item from its cells. The credential keeps its id if it was not changed."""
    item = {
        key: value for key, value in cells.items() if key not in {CREDENTIAL, STORED_CREDENTIAL}
    }
    name = cells.get(CREDENTIAL)
    reference = cells.get(STORED_CREDENTIAL)
    if not name:
        return item
    if isinstance(reference, dict) and name == _credential_name(reference):
        return {**item, CREDENTIAL: reference}
    return {**item, CREDENTIAL: {"name": name}}


def _credential_name(reference: Values) -> str:
    return str(reference.get("name") or reference.get("assetId") or "")


#: Cells that differ from the document: a credential is shown as its name, files as a text.
REPACKS = {
    CREDENTIAL: Repack(_unpack_credential, _pack_credential),
    files.FILES: Repack(files.unpack, files.pack),
}
MODES = "claimInfo.accessModes"
VOLUME_CELLS = (
    Cell(
        "claimInfo.storageClass",
        "Storage class",
        Input.SELECT,
        options=(("", "The cluster's default"), (NO_CLASS, "None")),
        choices="storage_classes",
        missing=NOT_ON_CLUSTER,
    ),
    Cell("claimInfo.size", "Claim size", Input.AMOUNT, required=True, placeholder="10"),
    Cell(
        "claimInfo.volumeMode",
        "Volume mode",
        Input.SELECT,
        options=(("", "File system"), ("Block", "Block")),
    ),
    _path_cell(),
    Cell(
        "ephemeral",
        "Persistency",
        Input.FLAG,
        options=(("", "Persistent"), ("on", "Ephemeral")),
    ),
    Cell(f"{MODES}.readWriteOnce", "Read-write by one node", Input.FLAG, initial=True),
    Cell(f"{MODES}.readOnlyMany", "Read-only by many nodes", Input.FLAG),
    Cell(f"{MODES}.readWriteMany", "Read-write by many nodes", Input.FLAG),
)
#: Key, label, label of the add button, cells.
SOURCES = (
    (
        "nfs",
        "NFS",
        "NFS",
        (
            _text_cell("server", "Server", "nfs.example.com", required=True),
            _text_cell("path", "Path on the server", "/export/data", required=True),
            _path_cell("mountPath"),
            _read_only_cell(initial=True),
        ),
    ),
    (
        "hostPath",
        "Host path",
        "HOST PATH",
        (
            _text_cell("path", "Path on the node", "/mnt/data", required=True),
            _path_cell("mountPath"),
            _read_only_cell(initial=True),
        ),
    ),
    (
        "configMapVolume",
        "ConfigMap",
        "CONFIGMAP",
        (
            Cell(
                files.FILES,
                "Files, as YAML",
                Input.LINES,
                placeholder=files.EXAMPLE,
                strip=False,
            ),
            Cell("configMap", "Or existing ConfigMap", choices="config_maps"),
            _path_cell("mountPath"),
            _text_cell("subPath", "Single file", "train.yaml"),
        ),
    ),
    (
        "secretVolume",
        "Secret",
        "SECRET",
        (
            _credential_cell("mounted_credentials"),
            _text_cell("secret", "Or existing Secret"),
            _path_cell("mountPath"),
        ),
    ),
    (
        "git",
        "Git repository",
        "GIT",
        (
            _text_cell("repository", "Repository", "https://… or git@host:path", required=True),
            _text_cell("branch", "Branch"),
            _text_cell("revision", "Tag or commit"),
            _path_cell(),
            _credential_cell("git_credentials"),
            _text_cell("secretRef.name", "Or existing Secret"),
        ),
    ),
    (
        "s3",
        "S3 bucket",
        "S3",
        (
            _text_cell("bucket", "Bucket", required=True),
            _text_cell("url", "Service URL", "empty: AWS"),
            _path_cell(),
            _credential_cell("access_keys"),
            _text_cell("accessKeySecret", "Or existing Secret"),
        ),
    ),
    (
        "emptyDirVolume",
        "Empty directory",
        "EMPTY DIRECTORY",
        (
            _path_cell(),
            Cell(
                "medium", "Medium", Input.SELECT, options=(("", "On disk"), ("Memory", "In memory"))
            ),
            Cell("sizeLimit", "Size limit", Input.AMOUNT),
        ),
    ),
)
CLAIM_CELLS = (
    Cell("claimName", "Claim", required=True, choices="claims"),
    _path_cell(),
    _read_only_cell(initial=False),
)


#: Data sources of the gallery, set up beforehand as assets.
DATA_SOURCES = Question(
    DATA_SOURCE.list_key,
    "Data source",
    Input.ITEMS,
    "From the gallery of data sources. Each has a default path.",
    add="DATA SOURCE",
    cells=(
        Cell(
            "id",
            "Data source",
            Input.SELECT,
            options=(("", "Select a data source"),),
            choices=DATA_SOURCE.list_key,
            required=True,
            missing="not available in this project",
        ),
        Cell("path", "Container path", placeholder="default path"),
        Cell("version", "Version", placeholder="of a dataset: the latest"),
    ),
    creates=DATA_SOURCE.slug,
)


def review(plan: Plan, role: str) -> Iterator[ReviewLine]:
    if places := ", ".join(path for _, path in reviewed_replica(plan, role).storage.mount_paths()):
        yield "Volumes and data", places, f"{role}.storage"


def _list_question(key: str, label: str, add: str, cells: tuple[Cell, ...]) -> Question:
    repack = next((REPACKS[cell.key] for cell in cells if cell.key in REPACKS), None)
    return Question(f"storage.{key}", label, Input.ITEMS, add=add, cells=cells, repack=repack)


#: New and existing claims share a list of the document; ``existingPvc`` tells them apart.
NEW_VOLUME = replace(
    _list_question("pvc", "Volume", "VOLUME", VOLUME_CELLS), mark=((EXISTING, False),)
)
EXISTING_PVC = replace(
    _list_question("pvc", "Existing PVC", "EXISTING PVC", CLAIM_CELLS),
    alias="storage-claims",
    mark=((EXISTING, True),),
)
STORAGE = Section(
    "storage",
    "Data & storage",
    template="workloads/wizard/_storage.html",
    replica=(
        NEW_VOLUME,
        DATA_SOURCES,
        EXISTING_PVC,
        *(_list_question(*source) for source in SOURCES),
    ),
    review=review,
)
