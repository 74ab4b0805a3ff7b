"""What runs in a pod: image, command, tools and rights. Fields are Run:ai's."""

import re
import shlex
from enum import StrEnum
from typing import Annotated, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, model_validator
from pydantic.alias_generators import to_camel

from spec.part import Flag, Part, Whole
from spec.parts.probes import Probes
from spec.values.patterns import NUMBERS
from spec.values.variable import (
    EnvironmentVariable,
    Text,
    address_variables,
    credential_variables,
    referenced_variables,
)

IMAGE = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._/:@-]*$")
LONGEST_COMMAND = 10_000


def _check_image(value: str) -> str:
    if not value:
        raise ValueError(
            "is required; write an image URL such as kubeflow/pytorch-dist-mnist:latest"
        )
    if not IMAGE.fullmatch(value):
        raise ValueError(f"{value!r} is not an image URL; write [registry/]name[:tag]")
    return value


def _check_quotes(value: str) -> str:
    """A command line is split into words as a shell would; every engine needs that to work."""
    try:
        shlex.split(value)
    except ValueError:
        raise ValueError("must close every quote, and not end with a backslash") from None
    return value


Image = Annotated[str, Field(max_length=512), AfterValidator(_check_image)]
CommandLine = Annotated[
    Text, Field(min_length=1, max_length=LONGEST_COMMAND), AfterValidator(_check_quotes)
]


class PullPolicy(StrEnum):
    ALWAYS = "Always"
    IF_NOT_PRESENT = "IfNotPresent"
    NEVER = "Never"

    @property
    def label(self) -> str:
        return "If not already pulled" if self is PullPolicy.IF_NOT_PRESENT else str(self)


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


def _check_capability(name: str) -> str:
    if name not in CAPABILITIES:
        raise ValueError(
            f"{name!r} is not a Linux capability; use one of {', '.join(CAPABILITIES)}"
        )
    return name


class Security(Part):
    """Who runs the container and with which rights."""

    uid_gid_source: UidGidSource = Field(
        UidGidSource.IMAGE,
        description="Where user and group come from: the image, or the fields here",
    )
    run_as_uid: Whole | None = Field(
        None, ge=0, le=2**31 - 1, description="The user that the container runs as"
    )
    run_as_gid: Whole | None = Field(
        None, ge=0, le=2**31 - 1, description="The group that the container runs as"
    )
    supplemental_groups: str | None = Field(
        None, pattern=NUMBERS, description="Further groups of the user, separated by commas"
    )
    run_as_non_root: Flag | None = Field(
        None, description="Whether the container is refused if it would run as root"
    )
    allow_privilege_escalation: Flag | None = Field(
        None, description="Whether a process may gain more privileges than its parent"
    )
    read_only_root_filesystem: Flag | None = Field(
        None, description="Whether the container cannot write to its own file system"
    )
    capabilities: tuple[Annotated[str, AfterValidator(_check_capability)], ...] = Field(
        (), description="Linux capabilities that the container gets, such as SYS_NICE"
    )
    seccomp_profile_type: Seccomp | None = Field(
        None, description="The seccomp profile of the container"
    )
    host_ipc: Flag = Field(
        False, description="Whether the pods share the IPC namespace of their node"
    )
    host_network: Flag = Field(
        False, description="Whether the pods share the network of their node"
    )

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
    """Who may open a tool. Without a rule, everyone who sees the workload may open it."""

    EVERYONE = "authenticatedUsers"
    USERS = "authorizedUsers"
    GROUPS = "authorizedGroups"

    @property
    def label(self) -> str:
        return {
            Access.EVERYONE: "All authenticated users",
            Access.USERS: "Specific users",
            Access.GROUPS: "Specific groups",
        }[self]


#: Services elsewhere, where what the workload reports is looked at.
EXTERNAL_TOOLS = {"wandb": "Weights & Biases", "comet": "Comet"}
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
    **EXTERNAL_TOOLS,
}
ONLY_FOR_SERVED_TOOLS = "is for tools that the image serves; leave it out"


class ToolConnection(Part):
    """A tool that the image serves, how people reach it and who may; or one that is elsewhere, with
    its address, in which ``${NAME}`` stands for the value of a variable."""

    name: str = Field(min_length=1, max_length=63, description="The name of the tool")
    tool_type: str = Field("custom", description="The kind of tool, such as jupyter-notebook")
    connection_type: ConnectionType = Field(
        ConnectionType.EXTERNAL_URL, description="How the tool is reached"
    )
    container_port: Whole | None = Field(
        None, ge=1, le=65_535, description="The port that the tool listens on in the container"
    )
    node_port: Whole | None = Field(
        None,
        ge=30_000,
        le=32_767,
        description=(
            "The external port of a node or a load balancer; chosen by the cluster if it is null"
        ),
    )
    external_url: str | None = Field(
        None, max_length=2_000, description="The external URL; made by Trainyard if it is null"
    )
    authorization_type: Access | None = Field(None, description="Who may open the tool")
    authorized_users: tuple[str, ...] = Field(
        (),
        description=(
            "Users who may open it, by username or email address, if authorizationType is "
            "authorizedUsers"
        ),
    )
    authorized_groups: tuple[str, ...] = Field(
        (), description="Groups that may open it if authorizationType is authorizedGroups"
    )

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

    @property
    def is_external(self) -> bool:
        return self.tool_type in EXTERNAL_TOOLS

    @model_validator(mode="after")
    def _has_what_its_type_needs(self) -> Self:
        if not self.is_external:
            if self.container_port is None:
                raise ValueError("containerPort: is required")
            return self
        if self.external_url is None:
            raise ValueError("externalUrl: is required, such as https://wandb.ai/team/${PROJECT}")
        for name, default in SERVED_FIELDS:
            if getattr(self, name) != default:
                raise ValueError(f"{to_camel(name)}: {ONLY_FOR_SERVED_TOOLS}")
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
                    f"{to_camel(field)}: name at least one, or choose who else may open it"
                )
            if not wanted and getattr(self, field):
                raise ValueError(
                    f"{to_camel(field)}: is only allowed with authorizationType {access}"
                )
        return self


#: What says how people reach a tool of the image, and what it is where it says nothing.
SERVED_FIELDS = (
    ("container_port", None),
    ("node_port", None),
    ("connection_type", ConnectionType.EXTERNAL_URL),
    ("authorization_type", None),
)


class Container(Part):
    """What is started, and how. Some clusters run a command without an image."""

    image: Image | None = Field(
        None, description="The container image, such as kubeflow/pytorch-dist-mnist:latest"
    )
    image_pull_policy: PullPolicy = Field(
        PullPolicy.IF_NOT_PRESENT, description="When the nodes pull the image"
    )
    command: CommandLine | None = Field(
        None, description="The command line; the image's own if it is null"
    )
    args: CommandLine | None = Field(
        None, description="The arguments of the command, in one line, quoted as in a shell"
    )
    working_dir: Annotated[Text, Field(min_length=1, max_length=4096)] | None = Field(
        None, description="The directory the command starts in; the image's own if it is null"
    )
    environment_variables: tuple[EnvironmentVariable, ...] = Field(
        (), description="Environment variables"
    )
    connections: tuple[ToolConnection, ...] = Field(
        (),
        description=(
            "Tools in the pods, of both kinds in one list; answers list them in exposedUrls and "
            "ports"
        ),
    )
    security: Security = Field(Security(), description="Rights of the container")
    probes: Probes = Field(
        Probes(), description="Checks of the container; for workloads of one pod and tools"
    )
    create_home_dir: Flag = Field(
        False, description="Whether the user gets a temporary home directory"
    )
    stdin: Flag = Field(False, description="Whether the container has a standard input")
    tty: Flag = Field(False, description="Whether the container has a terminal")

    @model_validator(mode="after")
    def _names_are_unique(self) -> Self:
        for field in ("environment_variables", "connections"):
            names = [item.name for item in getattr(self, field)]
            if twice := {name for name in names if names.count(name) > 1}:
                raise ValueError(f"{field}: {', '.join(sorted(twice))} is given twice")
        hidden = credential_variables(self.environment_variables)
        for field, line in (("command", self.command), ("args", self.args)):
            if shown := sorted(hidden & referenced_variables(line or "")):
                raise ValueError(
                    f"{field}: must not name $({shown[0]}), which holds the value of a credential: "
                    "everyone on a machine can read command lines; let the program read the "
                    "variable"
                )
        for tool in self.connections:
            if shown := sorted(hidden & address_variables(tool.external_url or "")):
                raise ValueError(
                    f"connections: the URL of {tool.name} must not name {shown[0]}, which holds "
                    "the value of a credential: others see it"
                )
        if self.tty and not self.stdin:
            raise ValueError("tty: a terminal needs stdin too")
        return self


class Environment(Container):
    """Everything an environment asset gives to a workload."""

    image: Image = Field(
        description="The container image, such as kubeflow/pytorch-dist-mnist:latest"
    )
