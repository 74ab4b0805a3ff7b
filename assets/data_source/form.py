"""The data source form: its kind, and the fields of each kind, of which only one is shown."""

from collections.abc import Collection
from typing import Any

from accounts.models import User
from assets.credential.usable import credentials_of_kinds, option_text, visible_credentials
from assets.data_source import files
from assets.data_source.model import DataSource
from assets.forms.base import AssetForm
from core.forms.field import Field, Input, Option, Values
from core.forms.items import Offered
from core.forms.shown import ShownField
from projects.scopes import OwningScope
from spec.data.credential import PULL_KINDS, CredentialKind
from spec.data.data_source import SourceKind
from spec.data.storage import NO_CLASS
from spec.formats.stored import as_mapping

KINDS: tuple[Option, ...] = (
    (SourceKind.PVC, "PVC"),
    (SourceKind.NFS, "NFS"),
    (SourceKind.GIT, "Git"),
    (SourceKind.S3, "S3"),
    (SourceKind.HOST_PATH, "Host path"),
    (SourceKind.CONFIG_MAP, "ConfigMap"),
    (SourceKind.SECRET, "Secret"),
    (SourceKind.DATASET, "Dataset"),
)


def _text_field(
    key: str,
    label: str,
    placeholder: str = "",
    *,
    hint: str = "",
    choices: str = "",
    required: bool = False,
) -> Field:
    return Field(
        key,
        label,
        hint=hint,
        placeholder=placeholder,
        choices=choices,
        alias=key.replace(".", "_"),
        required=required,
        literal=True,
    )


def _credential_field(kind: SourceKind, hint: str) -> Field:
    """Return the field of a credential, which is chosen by id. All problems with the credential are
    shown there."""
    key = f"{kind}.credential"
    return Field(
        f"{key}.assetId",
        "Credential",
        Input.SELECT,
        hint,
        alias=f"{kind}_credential",
        options=(("", "None"),),
        choices=f"{kind}_credentials",
        missing="cannot be used here",
        also=(key, f"{key}.name"),
    )


def _path_field(key: str) -> Field:
    hint = "Where pods find it. A workload may choose another path."
    return _text_field(key, "Container path", "/data", hint=hint, required=True)


def _read_only_field(kind: str, *, initial: bool = True) -> Field:
    alias = f"{kind}_readOnly"
    return Field(f"{kind}.readOnly", "Read only", Input.FLAG, alias=alias, initial=initial)


INFO = "pvc.claimInfo"
SIZE = f"{INFO}.size"
MODES = (
    ("readWriteOnce", "Read-write by one node", True),
    ("readOnlyMany", "Read-only by many nodes", False),
    ("readWriteMany", "Read-write by many nodes", False),
)
FIELDS: dict[SourceKind, tuple[Field, ...]] = {
    SourceKind.PVC: (
        _text_field(
            SIZE,
            "Claim size",
            "10G",
            hint="Of a new PersistentVolumeClaim, such as 500M, 10Gi or 2T. Each project has its "
            "own, created for the first workload that uses it and kept when workloads go.",
        ),
        _text_field(
            f"{INFO}.storageClass",
            "Storage class",
            hint=f"Leave empty to use the cluster's default. {NO_CLASS} stands for none.",
            choices="storage_classes",
        ),
        Field(
            f"{INFO}.volumeMode",
            "Volume mode",
            Input.SELECT,
            alias="pvc_volumeMode",
            options=(("", "File system"), ("Block", "Block")),
        ),
        *(
            Field(f"{INFO}.accessModes.{key}", label, Input.FLAG, alias=f"pvc_{key}", initial=on)
            for key, label, on in MODES
        ),
        _text_field(
            "pvc.claimName",
            "Existing PVC",
            hint="Instead of a new one: the name of a PersistentVolumeClaim in the namespace of "
            "each project.",
        ),
        _path_field("pvc.path"),
        _read_only_field("pvc", initial=False),
    ),
    SourceKind.NFS: (
        _text_field("nfs.server", "Server", "nfs.example.com", required=True),
        _text_field("nfs.path", "Path on the server", "/export/data", required=True),
        _path_field("nfs.mountPath"),
        _read_only_field("nfs"),
    ),
    SourceKind.GIT: (
        _text_field("git.repository", "Repository", "https://… or git@host:path", required=True),
        _text_field("git.branch", "Branch"),
        _text_field("git.revision", "Tag or commit"),
        _credential_field(
            SourceKind.GIT,
            "Username & password for https, an SSH key for ssh. None for a repository that "
            "everyone can read.",
        ),
        _text_field(
            "git.secretRef.name",
            "Existing Secret",
            hint="Instead of a credential: the name of a Secret in the namespace of each project, "
            "with the password or SSH key.",
        ),
        _path_field("git.path"),
    ),
    SourceKind.S3: (
        _text_field("s3.bucket", "Bucket", required=True),
        _text_field("s3.url", "Service URL", hint="Leave empty for AWS."),
        _credential_field(SourceKind.S3, "An access key. None for a public bucket."),
        _text_field(
            "s3.accessKeySecret",
            "Existing Secret",
            hint="Instead of a credential: the name of a Secret in the namespace of each project, "
            "with the keys.",
        ),
        _path_field("s3.path"),
    ),
    SourceKind.HOST_PATH: (
        _text_field("hostPath.path", "Path on the node", "/mnt/data", required=True),
        _path_field("hostPath.mountPath"),
        _read_only_field("hostPath"),
    ),
    SourceKind.CONFIG_MAP: (
        Field(
            "configMapVolume.files",
            "Files",
            Input.LINES,
            "As YAML, each name with its text, as in the data of a ConfigMap. They travel with "
            "each workload. Anyone who sees it can read them, so enter no passwords.",
            alias="configMapVolume_files",
            placeholder=files.EXAMPLE,
            literal=True,
        ),
        _text_field(
            "configMapVolume.configMap",
            "Existing ConfigMap",
            hint="Instead of files: the name of a ConfigMap in the namespace of each project.",
        ),
        _text_field("configMapVolume.subPath", "Single file", "train.yaml"),
        _path_field("configMapVolume.mountPath"),
    ),
    SourceKind.SECRET: (
        _credential_field(SourceKind.SECRET, "Each of its keys becomes a file."),
        _text_field(
            "secretVolume.secret",
            "Existing Secret",
            hint="Instead of a credential: the name of a Secret in the namespace of each project.",
        ),
        _path_field("secretVolume.mountPath"),
    ),
    SourceKind.DATASET: (_path_field("dataset.path"),),
}


MOUNTED = tuple(kind for kind in CredentialKind if kind not in PULL_KINDS)
#: Types of credentials that each kind accepts.
OPENED_BY = {
    SourceKind.GIT: (CredentialKind.PASSWORD, CredentialKind.SSH_KEY),
    SourceKind.S3: (CredentialKind.ACCESS_KEY,),
    SourceKind.SECRET: MOUNTED,
}


class DataSourceForm(AssetForm):
    MODEL = DataSource
    FIELDS = (
        Field("kind", "Type", Input.SELECT, options=KINDS, required=True),
        *(field for fields in FIELDS.values() for field in fields),
    )

    @property
    def kind_sections(self) -> list[tuple[str, str, list[ShownField]]]:
        """Value, label and fields of each kind."""
        labels = dict(KINDS)
        return [
            (kind.value, labels[kind], [self[field.name] for field in fields])
            for kind, fields in FIELDS.items()
        ]

    def field_options(self, user: User, scope: OwningScope | None) -> Offered:
        """Return the credentials to choose from: before a scope is chosen, all that the user sees.
        Which ones can be used there is checked on saving."""
        kinds = [kind for kinds in OPENED_BY.values() for kind in kinds]
        rows = credentials_of_kinds(kinds, visible_credentials(scope, user))
        self._names = {str(row.pk): row.name for row in rows}
        where = [scope.cluster] if scope and scope.cluster else self.clusters
        classes = sorted({name for it in where for name in it.capabilities.storage_classes})
        return {"storage_classes": [*((name, name) for name in classes), (NO_CLASS, "None")]} | {
            f"{of}_credentials": [
                (str(row.pk), option_text(row)) for row in rows if row.spec.kind in kinds
            ]
            for of, kinds in OPENED_BY.items()
        }

    def check(self) -> None:
        super().check()
        text = as_mapping(self.values.get(SourceKind.CONFIG_MAP)).get("files")
        claim = as_mapping(self.values.get(SourceKind.PVC))
        if claim.get("claimName") and as_mapping(claim.get("claimInfo")).get("size"):
            text = "Enter either the size of a new PVC or the name of an existing one, not both."
            self.add_error("pvc_claimName", text)
        if self.values.get("kind") == SourceKind.CONFIG_MAP and files.parse_texts(text) is None:
            self.add_error("configMapVolume_files", files.FORMAT_HINT)

    def document(self, *, without: Collection[str] = ()) -> Values:
        """Return the document, without the fields of other kinds."""
        document = super().document(without=without)
        kind = str(document.get("kind", ""))
        item = {key: value for key, value in document.get(kind, {}).items() if value != ""}
        if kind == SourceKind.PVC:
            item = _claim_values(item)
        if not (item.get("secretRef") or {}).get("name"):
            item.pop("secretRef", None)
        if kind == SourceKind.CONFIG_MAP:
            item = files.pack(item)
        if kind in OPENED_BY:
            credential_id = str((item.pop("credential", None) or {}).get("assetId") or "")
            if credential_id:
                item["credential"] = {
                    "assetId": credential_id,
                    "name": self._names.get(credential_id, ""),
                }
        return {"kind": kind, kind: item}


def _claim_values(item: Values) -> Values:
    """Return an existing claim if it is named, else a new one."""
    info = {key: value for key, value in as_mapping(item.get("claimInfo")).items() if value != ""}
    if item.get("claimName"):
        return {key: value for key, value in item.items() if key != "claimInfo"} | {
            "existingPvc": True
        }
    return item | {"claimInfo": info, "existingPvc": False}


def blank_values() -> Values:
    return {"kind": SourceKind.PVC.value}


def initial_values(source: DataSource) -> dict[str, Any]:
    document = as_mapping(source.spec_json)
    values = {key: value for key, value in document.items() if value is not None}
    conf = as_mapping(values.get(SourceKind.CONFIG_MAP))
    if conf:
        values[SourceKind.CONFIG_MAP.value] = files.unpack(conf)
    return values
