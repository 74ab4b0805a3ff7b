"""What runs in a pod: image, command, variables, tools and rights. Fields are Run:ai's."""

import re
import shlex
from enum import StrEnum
from typing import Annotated, Any, Self
from urllib.parse import urlsplit
from uuid import UUID

from pydantic import AfterValidator, Field, model_validator
from pydantic.alias_generators import to_camel

from spec.part import Flag, Part, Whole
from spec.patterns import K8S_NAME, NUMBERS

VARIABLE = re.compile(r"^[A-Za-z_][A-Za-z0-9_.-]*$")
IMAGE = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._/:@-]*$")
SECRET = re.compile(r"PASSW|SECRET|TOKEN|CREDENTIAL|API_?KEY|PRIVATE", re.IGNORECASE)
MASK = "***"  # is shown for the value of a variable whose name looks like a secret's
LONGEST_COMMAND = 10_000


def looks_secret(name: str) -> bool:
    """Whether a variable of this name should not be shown."""
    return bool(SECRET.search(name))


def _image(value: str) -> str:
    if not value:
        raise ValueError(
            "is required; write an image URL such as kubeflow/pytorch-dist-mnist:latest"
        )
    if not IMAGE.fullmatch(value):
        raise ValueError(f"{value!r} is not an image URL; write [registry/]name[:tag]")
    return value


def _variable(name: str) -> str:
    if not name:
        raise ValueError("is required")
    if not VARIABLE.fullmatch(name):
        raise ValueError(
            f"{name!r} is not a variable name; use a letter or _ first, then letters, digits, _ . -"
        )
    return name


def _text(value: str) -> str:
    if "\0" in value:
        raise ValueError("must not contain a NUL character")
    return value


def _words(value: str) -> str:
    """A command line is split into words as a shell would; every engine needs that to work."""
    try:
        shlex.split(value)
    except ValueError:
        raise ValueError("must close every quote, and not end with a backslash") from None
    return value


Image = Annotated[str, Field(max_length=512), AfterValidator(_image)]
Text = Annotated[str, AfterValidator(_text)]
CommandLine = Annotated[
    Text, Field(min_length=1, max_length=LONGEST_COMMAND), AfterValidator(_words)
]


class PullPolicy(StrEnum):
    ALWAYS = "Always"
    IF_NOT_PRESENT = "IfNotPresent"
    NEVER = "Never"

    @property
    def label(self) -> str:
        return "If not already pulled" if self is PullPolicy.IF_NOT_PRESENT else str(self)


class KeyOf(Part):
    """One key of a Secret or ConfigMap."""

    name: str = Field(min_length=1, max_length=253, pattern=K8S_NAME)
    key: str = Field(min_length=1, max_length=253)


class CredentialKey(Part):
    """One key of a credential, by its name or its id; which one it is, is settled for the project
    when the workload is submitted."""

    asset_id: UUID | None = None
    name: str = Field("", max_length=63)
    key: str = Field(min_length=1, max_length=253)

    @model_validator(mode="after")
    def _names_one(self) -> Self:
        if not (self.name or self.asset_id):
            raise ValueError("name: is required")
        return self


class FieldRef(Part):
    path: str = Field(min_length=1, max_length=253)


class EnvironmentVariable(Part):
    """One variable: a value, or exactly one place to take it from."""

    name: Annotated[str, Field(max_length=256), AfterValidator(_variable)]
    value: Annotated[Text, Field(max_length=32_768)] | None = None
    secret: KeyOf | None = None
    config_map: KeyOf | None = None
    pod_field_ref: FieldRef | None = None
    credential: CredentialKey | None = None
    description: str = Field("", max_length=250)

    @model_validator(mode="before")
    @classmethod
    def _without_a_source(cls, data: Any) -> Any:
        """One that is given nothing is empty: forms cannot tell the two apart, nor can programs."""
        sources = ["value", "secret", "configMap", "config_map", "podFieldRef", "pod_field_ref"]
        sources.append("credential")
        if isinstance(data, dict) and all(data.get(key) is None for key in sources):
            return {**data, "value": ""}
        return data

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        given = [
            s
            for s in (
                *(self.value, self.secret, self.config_map, self.pod_field_ref),
                self.credential,
            )
            if s is not None
        ]
        if len(given) > 1:
            raise ValueError("value: give a value or one source, not several")
        if self.value == MASK and looks_secret(self.name):
            raise ValueError(f"value: {MASK} stands for a hidden value; enter the value")
        return self

    @property
    def is_taken(self) -> bool:
        """Whether the value comes from somewhere else."""
        return bool(self.secret or self.config_map or self.pod_field_ref or self.credential)


class UidGidSource(StrEnum):
    IMAGE = "fromTheImage"
    IDP_TOKEN = "fromIdpToken"  # noqa: S105 -- the API's word for a source, not a password
    CUSTOM = "custom"


class Seccomp(StrEnum):
    RUNTIME_DEFAULT = "RuntimeDefault"
    UNCONFINED = "Unconfined"
    LOCALHOST = "Localhost"


CAPABILITIES = tuple(
    """AUDIT_CONTROL AUDIT_READ AUDIT_WRITE BLOCK_SUSPEND CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER
    FSETID IPC_LOCK IPC_OWNER KILL LEASE LINUX_IMMUTABLE MAC_ADMIN MAC_OVERRIDE MKNOD NET_ADMIN
    NET_BIND_SERVICE NET_BROADCAST NET_RAW SETGID SETFCAP SETPCAP SETUID SYS_ADMIN SYS_BOOT
    SYS_CHROOT SYS_MODULE SYS_NICE SYS_PACCT SYS_PTRACE SYS_RAWIO SYS_RESOURCE SYS_TIME
    SYS_TTY_CONFIG SYSLOG WAKE_ALARM""".split()
)


def _capability(name: str) -> str:
    if name not in CAPABILITIES:
        raise ValueError(
            f"{name!r} is not a Linux capability; use one of {', '.join(CAPABILITIES)}"
        )
    return name


class Security(Part):
    """Who runs the container and with which rights."""

    uid_gid_source: UidGidSource = UidGidSource.IMAGE
    run_as_uid: Whole | None = Field(None, ge=0, le=2**31 - 1)
    run_as_gid: Whole | None = Field(None, ge=0, le=2**31 - 1)
    supplemental_groups: str | None = Field(None, pattern=NUMBERS)
    run_as_non_root: Flag | None = None
    allow_privilege_escalation: Flag | None = None
    read_only_root_filesystem: Flag | None = None
    capabilities: tuple[Annotated[str, AfterValidator(_capability)], ...] = ()
    seccomp_profile_type: Seccomp | None = None
    host_ipc: Flag = False
    host_network: Flag = False

    @model_validator(mode="after")
    def _ids_are_custom(self) -> Self:
        ids = (self.run_as_uid, self.run_as_gid, self.supplemental_groups)
        if (
            any(value is not None for value in ids)
            and self.uid_gid_source is not UidGidSource.CUSTOM
        ):
            raise ValueError(
                "runAsUid: UID, GID and groups are set only when uidGidSource is custom"
            )
        return self


class ConnectionType(StrEnum):
    EXTERNAL_URL = "ExternalUrl"
    NODE_PORT = "NodePort"
    LOAD_BALANCER = "LoadBalancer"
    CLUSTER_IP = "ClusterIP"  # not reachable from outside but through Trainyard

    @property
    def label(self) -> str:
        return {
            ConnectionType.EXTERNAL_URL: "External URL",
            ConnectionType.NODE_PORT: "Node port",
            ConnectionType.LOAD_BALANCER: "Load balancer",
            ConnectionType.CLUSTER_IP: "Through Trainyard",
        }[self]


class Access(StrEnum):
    """Who may open a tool. Without a rule: whoever sees the workload."""

    EVERYONE = "authenticatedUsers"
    USERS = "authorizedUsers"
    GROUPS = "authorizedGroups"

    @property
    def label(self) -> str:
        return {
            Access.EVERYONE: "All signed-in users",
            Access.USERS: "Specific users",
            Access.GROUPS: "Specific groups",
        }[self]


TOOLS = {
    "jupyter-notebook": "Jupyter",
    "pycharm": "PyCharm",
    "visual-studio-code": "Visual Studio Code",
    "tensorboard": "TensorBoard",
    "rstudio": "RStudio",
    "mlflow": "MLflow",
    "matlab": "MATLAB",
    "chatbot-ui": "Chatbot UI",
    "custom": "Custom",
}


class ToolConnection(Part):
    """A tool that the image serves, how people reach it and who may."""

    name: str = Field(min_length=1, max_length=63)
    tool_type: str = "custom"
    connection_type: ConnectionType = ConnectionType.EXTERNAL_URL
    container_port: Whole = Field(ge=1, le=65_535)
    node_port: Whole | None = Field(None, ge=30_000, le=32_767)
    external_url: str | None = Field(None, max_length=2_000)
    authorization_type: Access | None = None
    authorized_users: tuple[str, ...] = ()
    authorized_groups: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _known_and_reachable(self) -> Self:
        if self.tool_type not in TOOLS:
            raise ValueError(
                f"toolType: {self.tool_type!r} is unknown; use one of {', '.join(TOOLS)}"
            )
        if self.external_url is not None and urlsplit(self.external_url).scheme not in {
            "http",
            "https",
        }:
            raise ValueError("externalUrl: must start with http:// or https://")
        return self

    @model_validator(mode="after")
    def _names_who_may(self) -> Self:
        for access, field in (
            (Access.USERS, "authorized_users"),
            (Access.GROUPS, "authorized_groups"),
        ):
            wanted = self.authorization_type is access
            if wanted and not getattr(self, field):
                raise ValueError(
                    f"{to_camel(field)}: name at least one, or choose another authorizationType"
                )
            if not wanted and getattr(self, field):
                raise ValueError(
                    f"{to_camel(field)}: is only allowed with authorizationType {access}"
                )
        return self


class Environment(Part):
    """Everything an environment asset gives to a workload."""

    image: Image
    image_pull_policy: PullPolicy = PullPolicy.IF_NOT_PRESENT
    command: CommandLine | None = None
    args: CommandLine | None = None
    working_dir: Annotated[Text, Field(min_length=1, max_length=4096)] | None = None
    environment_variables: tuple[EnvironmentVariable, ...] = ()
    connections: tuple[ToolConnection, ...] = ()
    security: Security = Security()
    create_home_dir: Flag = False
    stdin: Flag = False
    tty: Flag = False

    @model_validator(mode="after")
    def _names_are_unique(self) -> Self:
        for field in ("environment_variables", "connections"):
            names = [item.name for item in getattr(self, field)]
            if twice := {name for name in names if names.count(name) > 1}:
                raise ValueError(f"{field}: {', '.join(sorted(twice))} is given twice")
        for variable in self.environment_variables:
            reference = re.compile(rf"(?<!\$)\$\({re.escape(variable.name)}\)")
            if variable.credential and reference.search(f"{self.command or ''} {self.args or ''}"):
                raise ValueError(
                    f"{'command' if reference.search(self.command or '') else 'args'}: must not "
                    f"name $({variable.name}), whose value is a credential's: everyone on a "
                    "machine can read command lines; let the program read the variable"
                )
        if self.tty and not self.stdin:
            raise ValueError("tty: a terminal needs stdin too")
        return self
