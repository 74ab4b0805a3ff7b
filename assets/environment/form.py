"""The environment form. Only a name and an image are needed; the rest has the spec's defaults."""

from collections.abc import Collection
from typing import Any
from uuid import UUID

from django.http import QueryDict

from accounts.models import User
from assets.environment import tools, variables
from assets.environment.model import Environment
from assets.forms.base import AssetForm
from clusters.withheld import why_withheld
from core.forms import nested
from core.forms.field import Cell, Field, Input, Values
from core.forms.items import ShownItem
from core.forms.shown import ShownField
from projects.scopes import OwningScope
from spec.formats.stored import as_mapping, drop_unknown_fields
from spec.framework import Framework
from spec.parts import environment as spec
from spec.parts.environment import CAPABILITIES, ConnectionType, PullPolicy, Seccomp, UidGidSource
from spec.parts.probes import Scheme

YES_NO = (("", "Image default"), ("yes", "Yes"), ("no", "No"))
SOURCES = (
    (UidGidSource.IMAGE.value, "From the image"),
    (UidGidSource.IDP_TOKEN.value, "From the IdP token"),
    (UidGidSource.CUSTOM.value, "Custom"),
)
PULLS = tuple(
    (policy.value, policy.label)
    for policy in (PullPolicy.IF_NOT_PRESENT, PullPolicy.ALWAYS, PullPolicy.NEVER)
)
FRAMEWORKS = (("", "Any framework"), *((f.value, f.label) for f in Framework))
DISTRIBUTED = "distributed"
ARCHITECTURES = ((DISTRIBUTED, "Distributed"), ("standard", "Standard"))
SECCOMP = (("", "Cluster default"), *((s.value, s.value) for s in Seccomp))


def _yes_no_field(key: str, label: str, alias: str) -> Field:
    return Field(f"security.{key}", label, Input.MAYBE, alias=alias, options=YES_NO)


IMAGE = (
    Field("image", "Image URL", placeholder="registry/name:tag", required=True),
    Field(
        "imagePullPolicy",
        "Image pull policy",
        Input.SELECT,
        alias="image_pull_policy",
        options=PULLS,
    ),
    Field(
        "architecture",
        "Workload architecture",
        Input.SELECT,
        "Distributed training can only use distributed environments.",
        options=ARCHITECTURES,
    ),
    Field("framework", "Framework", Input.SELECT, options=FRAMEWORKS),
)
RUNTIME = (
    Field("command", "Command", Input.LINES),
    Field("args", "Arguments", Input.LINES),
    Field("workingDir", "Container's working directory", alias="working_dir"),
    Field("createHomeDir", "Create a home directory", Input.FLAG, alias="create_home_dir"),
    Field("stdin", "Keep stdin open", Input.FLAG),
    Field("tty", "Allocate a terminal (TTY)", Input.FLAG),
    Field(
        "environmentVariables",
        "Environment variables",
        Input.ROWS,
        alias="variables",
        add="Environment variable",
        cells=(*variables.CELLS, Cell("description", "Instructions")),
        repack=variables.REPACK,
    ),
)
TOOLS = (
    Field(
        "connections",
        "Tools",
        Input.ROWS,
        alias="tools",
        add="Tool",
        cells=tools.CELLS,
        repack=tools.REPACK,
    ),
)
PROBE = "probes.readiness"
HTTP_GET = f"{PROBE}.handler.httpGet"


def _seconds_field(key: str, label: str, usual: str = "") -> Field:
    return Field(f"{PROBE}.{key}", label, Input.WHOLE, alias=f"probe_{key}", placeholder=usual)


READINESS = (
    Field(
        f"{HTTP_GET}.port",
        "Port",
        Input.WHOLE,
        "Without a probe, a rank is ready when it runs.",
        alias="probe_port",
        placeholder="8080",
        also=("probes",),
    ),
    Field(f"{HTTP_GET}.path", "Path", alias="probe_path", placeholder="/"),
    Field(
        f"{HTTP_GET}.scheme",
        "Scheme",
        Input.SELECT,
        alias="probe_scheme",
        options=(("", Scheme.HTTP.value), (Scheme.HTTPS.value, Scheme.HTTPS.value)),
    ),
    _seconds_field("initialDelaySeconds", "Initial delay (seconds)"),
    _seconds_field("periodSeconds", "Period (seconds)", "10"),
    _seconds_field("timeoutSeconds", "Timeout (seconds)", "1"),
    _seconds_field("successThreshold", "Success threshold", "1"),
    _seconds_field("failureThreshold", "Failure threshold", "3"),
)
SECURITY = (
    Field(
        "security.uidGidSource",
        "UID and GID",
        Input.SELECT,
        alias="uid_gid_source",
        options=SOURCES,
        also=("security",),
    ),
    Field("security.runAsUid", "User ID (UID)", Input.WHOLE, alias="run_as_uid"),
    Field("security.runAsGid", "Group ID (GID)", Input.WHOLE, alias="run_as_gid"),
    Field(
        "security.supplementalGroups",
        "Supplementary groups",
        hint="Numbers, separated by commas.",
        alias="supplemental_groups",
    ),
    Field(
        "overrideUidGid",
        "Allow the values above to be modified within the workload",
        Input.FLAG,
        alias="override_uid_gid",
    ),
    Field(
        "security.capabilities",
        "Linux capabilities",
        Input.MANY,
        alias="capabilities",
        options=tuple((name, name) for name in CAPABILITIES),
    ),
    Field(
        "security.seccompProfileType",
        "Seccomp profile",
        Input.SELECT,
        alias="seccomp_profile_type",
        options=SECCOMP,
    ),
    _yes_no_field("runAsNonRoot", "Run as non-root", "run_as_non_root"),
    _yes_no_field("allowPrivilegeEscalation", "Privilege escalation", "allow_privilege_escalation"),
    _yes_no_field(
        "readOnlyRootFilesystem", "Read-only root file system", "read_only_root_filesystem"
    ),
    Field("security.hostIpc", "Use the host's IPC", Input.FLAG, alias="host_ipc"),
    Field("security.hostNetwork", "Use the host's network", Input.FLAG, alias="host_network"),
)


class EnvironmentForm(AssetForm):
    MODEL = Environment
    FIELDS = (*IMAGE, *RUNTIME, *TOOLS, *READINESS, *SECURITY)
    OUTSIDE_DOCUMENT = ("architecture", "framework", "overrideUidGid")

    def __init__(
        self,
        posted: QueryDict | None,
        *,
        user: User,
        scope: OwningScope | None,
        initial: Values,
        fixed: Collection[str] = (),
    ) -> None:
        super().__init__(posted, user=user, scope=scope, initial=initial, fixed=fixed)
        self._read_url_support(scope)
        self["tools"].new = {"toolType": ""} | tools.blank_tool(self.why_no_urls)
        for item in self["tools"].items:
            self._hide_unavailable(item)

    def _read_url_support(self, scope: OwningScope | None) -> None:
        """Note whether tools can have external URLs, and why not. While the cluster can still be
        chosen, they are offered if one of the clusters has them."""
        reasons: dict[UUID, str] = {}
        for cluster in self.clusters:
            reason = why_withheld(cluster, tools.EXTERNAL_URL_OPTION)
            reasons[cluster.pk] = f"on {cluster.name}, {reason}" if reason else ""
        self.offers_urls = not reasons or "" in reasons.values()
        chosen_cluster = scope.cluster.pk if scope and scope.cluster else None
        relevant_reasons = (
            [reasons[chosen_cluster]] if chosen_cluster in reasons else reasons.values()
        )
        self.why_no_urls = next(filter(None, relevant_reasons), "")

    def _hide_unavailable(self, item: ShownItem) -> None:
        """Remove the option of an external URL if no cluster has it and the tool has none yet, and
        hide the cells that an external tool does not have."""
        tools.hide_served_cells(item)
        cell = item.by_slug["connection_type"]
        url = ConnectionType.EXTERNAL_URL.value
        if not self.offers_urls and cell.value != url:
            cell.options = [option for option in cell.options if option[0] != url]

    def blank_item(self, name: str, number: int | str) -> ShownItem:
        item = super().blank_item(name, number)
        if name == "tools":
            self._hide_unavailable(item)
        return item

    @property
    def readiness(self) -> list[ShownField]:
        return [self[field.name] for field in READINESS]

    @property
    def open_sections(self) -> dict[str, bool]:
        """Whether each folded section is open, because it has values or errors."""
        initial = self.initial
        fields_with_errors = set(self.errors)
        keys = {"command", "args", "workingDir", "createHomeDir", "stdin"}
        return {
            "architecture": bool(fields_with_errors & {field.name for field in IMAGE[1:]}),
            "tools": bool(self["tools"].items),
            "runtime": bool(self["variables"].items)
            or bool(keys & set(initial) or fields_with_errors & {field.name for field in RUNTIME}),
            "readiness": bool(nested.get(initial, HTTP_GET))
            or bool(fields_with_errors & {field.name for field in READINESS}),
            "security": "security" in initial
            or bool(fields_with_errors & {field.name for field in SECURITY}),
        }

    def document(self, *, without: Collection[str] = ()) -> Values:
        """Return the document. A missing image becomes an empty one, which the spec reports."""
        return {"image": ""} | super().document(without=without)

    def columns(self) -> dict[str, Any]:
        return {
            "framework": self.values.get("framework", ""),
            "distributed": self.values.get("architecture") == DISTRIBUTED,
            "override_uid_gid": self.values.get("overrideUidGid", False),
        }


def initial_values(environment: Environment) -> Values:
    """Return the fields of an existing environment."""
    return as_mapping(drop_unknown_fields(spec.Environment, environment.spec_json)) | {
        "architecture": DISTRIBUTED if environment.distributed else "standard",
        "framework": environment.framework,
        "overrideUidGid": environment.override_uid_gid,
    }
