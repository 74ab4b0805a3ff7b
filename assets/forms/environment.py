"""The environment form. Only a name and an image are needed; the rest has the spec's defaults."""

from typing import Any

from django import forms

from accounts.models import User
from assets.forms.base import AssetForm
from assets.forms.rows import ToolForm, ToolRows, VariableRows, items, variable_initial
from assets.models import Environment
from assets.scopes import Place
from clusters.engines import external_urls
from spec.environment import CAPABILITIES, ConnectionType, PullPolicy, Seccomp, UidGidSource
from spec.workload import Framework

SECURITY_FIELDS = ("uid_gid_source", "run_as_uid", "run_as_gid", "supplemental_groups")
YES_NO = (("", "As the image says"), ("yes", "Yes"), ("no", "No"))
TRISTATE = {"": None, "yes": True, "no": False}
SOURCES = {
    UidGidSource.IMAGE: "From the image",
    UidGidSource.IDP_TOKEN: "From the IdP token",
    UidGidSource.CUSTOM: "Custom",
}
PULLS = {
    PullPolicy.IF_NOT_PRESENT: "If not already pulled",
    PullPolicy.ALWAYS: "Always",
    PullPolicy.NEVER: "Never",
}
FRAMEWORKS = [("", "Any framework"), *((f.value, f.label) for f in Framework)]


def multiline(rows: int) -> forms.Textarea:
    return forms.Textarea({"rows": rows, "spellcheck": "false", "class": "mono"})


class EnvironmentForm(AssetForm):
    NEEDED = ("name", "image")
    FIELDS = {
        "image": "image",
        "imagePullPolicy": "image_pull_policy",
        "workingDir": "working_dir",
        "security.runAsUid": "run_as_uid",
        "security.runAsGid": "run_as_gid",
        "security.supplementalGroups": "supplemental_groups",
        "security": "uid_gid_source",
    }
    #: Flags of the document, and of its security, by wire name.
    FLAGS = {"createHomeDir": "create_home_dir", "stdin": "stdin", "tty": "tty"}
    HOST = {"hostIpc": "host_ipc", "hostNetwork": "host_network"}
    CHOSEN = {
        "runAsNonRoot": "run_as_non_root",
        "allowPrivilegeEscalation": "allow_privilege_escalation",
        "readOnlyRootFilesystem": "read_only_root_filesystem",
    }

    image = forms.CharField(
        label="Image URL",
        required=False,
        widget=forms.TextInput({"placeholder": "registry/name:tag", "spellcheck": "false"}),
    )
    image_pull_policy = forms.ChoiceField(label="Image pull policy", choices=list(PULLS.items()))
    architecture = forms.ChoiceField(
        label="Workload architecture",
        choices=[("distributed", "Distributed"), ("standard", "Standard")],
        help_text="Only distributed environments are offered for distributed training.",
    )
    framework = forms.ChoiceField(label="Framework", choices=FRAMEWORKS, required=False)
    command = forms.CharField(label="Command", required=False, widget=multiline(2))
    args = forms.CharField(label="Arguments", required=False, widget=multiline(2))
    working_dir = forms.CharField(label="Container's working directory", required=False)
    uid_gid_source = forms.ChoiceField(label="UID and GID", choices=list(SOURCES.items()))
    run_as_uid = forms.IntegerField(label="User ID (UID)", required=False)
    run_as_gid = forms.IntegerField(label="Group ID (GID)", required=False)
    supplemental_groups = forms.CharField(
        label="Supplementary groups", required=False, help_text="Numbers with commas between them."
    )
    override_uid_gid = forms.BooleanField(
        label="Allow the values above to be modified within the workload", required=False
    )
    capabilities = forms.MultipleChoiceField(
        label="Linux capabilities",
        choices=[(name, name) for name in CAPABILITIES],
        required=False,
        widget=forms.SelectMultiple({"size": 6}),
    )
    seccomp_profile_type = forms.ChoiceField(
        label="Seccomp profile",
        choices=[("", "As the cluster says"), *((s.value, s.value) for s in Seccomp)],
        required=False,
    )
    run_as_non_root = forms.ChoiceField(label="Run as non-root", choices=YES_NO, required=False)
    allow_privilege_escalation = forms.ChoiceField(
        label="Privilege escalation", choices=YES_NO, required=False
    )
    read_only_root_filesystem = forms.ChoiceField(
        label="Read-only root file system", choices=YES_NO, required=False
    )
    host_ipc = forms.BooleanField(label="Use the host's IPC", required=False)
    host_network = forms.BooleanField(label="Use the host's network", required=False)
    create_home_dir = forms.BooleanField(label="Create a home directory", required=False)
    stdin = forms.BooleanField(label="Keep stdin open", required=False)
    tty = forms.BooleanField(label="Allocate a terminal (TTY)", required=False)

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, user=user, **kwargs)
        spec = self.initial.get("document", {})
        connection = self._connections(kwargs.get("place"))
        self.rows = {
            "environmentVariables": VariableRows(
                self.data if self.is_bound else None,
                prefix="variables",
                initial=[variable_initial(v) for v in spec.get("environmentVariables", ())],
            ),
            "connections": ToolRows(
                self.data if self.is_bound else None,
                prefix="tools",
                initial=[tool_initial(c) for c in spec.get("connections", ())],
                form_kwargs={"offers_urls": self.offers_urls, "begins": connection},
            ),
        }

    def _connections(self, place: Place | None) -> ConnectionType:
        """The connection type that a new tool begins with. Where the asset will be may yet be
        chosen: an external URL is offered as long as one cluster has them."""
        clusters = {one.cluster.pk: one.cluster for one in self.places.values()}
        whys = {pk: external_urls(cluster) for pk, cluster in clusters.items()}
        self.offers_urls = not whys or "" in whys.values()
        here = [whys[place.cluster.pk]] if place and place.cluster.pk in whys else whys.values()
        self.why_no_urls = next(filter(None, here), "")
        return ConnectionType.CLUSTER_IP if self.why_no_urls else ConnectionType.EXTERNAL_URL

    @property
    def opened(self) -> dict[str, bool]:
        """Which folded parts hold something, or something wrong, and so are shown."""
        spec = self.initial.get("document", {})
        wrong = set(self.errors) if self.is_bound else set()
        rows = {wire: bool(formset.forms) for wire, formset in self.rows.items()}
        keys = {"command", "args", "workingDir", "createHomeDir", "stdin"}
        return {
            "architecture": bool(wrong & {"image_pull_policy", "framework", "architecture"}),
            "tools": rows["connections"],
            "runtime": rows["environmentVariables"]
            or bool(keys & set(spec) or wrong & {"command", "args", "working_dir", "tty"}),
            "security": "security" in spec
            or any(name in wrong for name in (*self.CHOSEN.values(), *SECURITY_FIELDS)),
        }

    def document(self) -> dict[str, Any]:
        data = self.cleaned_data
        plain = {
            "image": data["image"],
            "imagePullPolicy": data["image_pull_policy"],
            "command": data["command"] or None,
            "args": data["args"] or None,
            "workingDir": data["working_dir"] or None,
            "security": self._security(),
            **{wire: data[field] for wire, field in self.FLAGS.items()},
        }
        return plain | {wire: items(rows) for wire, rows in self.rows.items()}

    def _security(self) -> dict[str, Any]:
        data = self.cleaned_data
        return {
            "uidGidSource": data["uid_gid_source"],
            "runAsUid": data["run_as_uid"],
            "runAsGid": data["run_as_gid"],
            "supplementalGroups": data["supplemental_groups"] or None,
            "capabilities": data["capabilities"],
            "seccompProfileType": data["seccomp_profile_type"] or None,
            **{wire: data[field] for wire, field in self.HOST.items()},
            **{wire: TRISTATE[data[field]] for wire, field in self.CHOSEN.items()},
        }

    def columns(self) -> dict[str, Any]:
        data = self.cleaned_data
        return {
            "framework": data["framework"],
            "distributed": data["architecture"] == "distributed",
            "override_uid_gid": data["override_uid_gid"],
        }


def tool_initial(item: dict[str, Any]) -> dict[str, Any]:
    values = {field: item.get(wire) for wire, field in ToolForm.WIRE.items()}
    values["tool_type"] = item.get("toolType", "custom")
    values["connection_type"] = item.get("connectionType", ConnectionType.EXTERNAL_URL)
    values["who"] = ", ".join(item.get("authorizedUsers") or item.get("authorizedGroups") or ())
    return values


def initial(environment: Environment) -> dict[str, Any]:
    """The fields of an environment that exists."""
    spec = environment.spec_json
    security = spec.get("security", {})
    words = {value: word for word, value in TRISTATE.items()}
    form = EnvironmentForm
    return {
        "document": spec,
        "image": spec.get("image"),
        "image_pull_policy": spec.get("imagePullPolicy", PullPolicy.IF_NOT_PRESENT),
        "architecture": "distributed" if environment.distributed else "standard",
        "framework": environment.framework,
        "command": spec.get("command"),
        "args": spec.get("args"),
        "working_dir": spec.get("workingDir"),
        "uid_gid_source": security.get("uidGidSource", UidGidSource.IMAGE),
        "run_as_uid": security.get("runAsUid"),
        "run_as_gid": security.get("runAsGid"),
        "supplemental_groups": security.get("supplementalGroups"),
        "override_uid_gid": environment.override_uid_gid,
        "capabilities": security.get("capabilities", []),
        "seccomp_profile_type": security.get("seccompProfileType", ""),
        **{field: spec.get(wire, False) for wire, field in form.FLAGS.items()},
        **{field: security.get(wire, False) for wire, field in form.HOST.items()},
        **{field: words[security.get(wire)] for wire, field in form.CHOSEN.items()},
    }
