"""The cluster form and the node pool form. The verbs in the services judge the values."""

from typing import Any

from django import forms

from clusters.kubeconfigs import LARGEST, Unusable, risks
from clusters.models import Cluster, ConnectionTest
from clusters.services import SETTINGS
from core.forms import Form

KUBECONFIG, IN_CLUSTER, KEEP = "kubeconfig", "in_cluster", "keep"
WAYS = [
    (KUBECONFIG, "A kubeconfig"),
    (IN_CLUSTER, "The service account of the pod that Trainyard runs in"),
]
PLAIN = {"autocomplete": "off", "spellcheck": "false", "autocapitalize": "off"}


class Unshown(forms.Textarea):
    """What was typed goes out once, and never comes back in a page."""

    def format_value(self, value: Any) -> str:
        return ""


class ClusterForm(Form):
    """``tested`` is the last test of this form: its kubeconfig counts where no other is given."""

    NEEDED = ("name", "namespace_prefix")

    name = forms.CharField(label="Cluster name", required=False)
    way = forms.ChoiceField(label="Connect by", choices=WAYS, widget=forms.RadioSelect)
    kubeconfig = forms.CharField(
        label="Kubeconfig",
        required=False,
        widget=Unshown({**PLAIN, "rows": 7, "class": "mono"}),
    )
    kubeconfig_file = forms.FileField(
        label="Or upload it",
        required=False,
        help_text="It is kept encrypted and is never shown again.",
    )
    trusted = forms.BooleanField(
        label="I trust this kubeconfig with that",
        required=False,
    )
    namespace_prefix = forms.CharField(
        label="Namespace prefix",
        required=False,
        widget=forms.TextInput(PLAIN),
        help_text="Each project's namespace is named after it behind this. It stays once there "
        "are projects.",
    )
    ingress_domain = forms.CharField(
        label="Domain of tools",
        required=False,
        widget=forms.TextInput({**PLAIN, "placeholder": "apps.example.com"}),
        help_text="External URLs of tools end in it. Its names have to lead to the ingress "
        "controller.",
    )
    ingress_class = forms.CharField(
        label="Ingress class",
        required=False,
        widget=forms.TextInput({**PLAIN, "placeholder": "nginx"}),
        help_text="Empty: the cluster's default one.",
    )
    prometheus_url = forms.CharField(
        label="Prometheus URL",
        required=False,
        widget=forms.TextInput({**PLAIN, "placeholder": "http://prometheus.example.com:9090"}),
        help_text="GPU use comes from there, by the names of NVIDIA's DCGM exporter.",
    )
    tested = forms.UUIDField(required=False, widget=forms.HiddenInput)

    def __init__(
        self, *args: Any, tested: ConnectionTest | None = None, editing: bool = False, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.test: ConnectionTest | None = None
        self.risks: list[str] = []
        way = self.fields["way"]
        assert isinstance(way, forms.ChoiceField)  # noqa: S101 -- declared above
        if editing:
            way.choices = [(KEEP, "As it is"), *((k, f"{t}, from now on") for k, t in WAYS)]
        if tested:
            self.remember(tested)

    def remember(self, test: ConnectionTest) -> None:
        """From now on the kubeconfig of ``test`` counts where no other is given."""
        self.test = test
        if self.is_bound:
            self.data = {**{name: self.data[name] for name in self.data}, "tested": str(test.pk)}
        if test.kubeconfig:
            text = "Empty: the one you gave a moment ago, which is kept encrypted for an hour."
            self.fields["kubeconfig"].help_text = text

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        if data.get("way") == KUBECONFIG and "kubeconfig" not in self.errors:
            data["kubeconfig"] = self._text(data)
            self._judge(data["kubeconfig"])
        return data

    def _text(self, data: dict[str, Any]) -> str:
        upload = data.get("kubeconfig_file")
        if upload and upload.size > LARGEST:
            self.add_error("kubeconfig_file", "It is larger than 256 KiB: not a kubeconfig.")
        elif upload:
            try:
                return str(upload.read().decode()).strip()
            except UnicodeDecodeError:
                self.add_error("kubeconfig_file", "It is not text.")
        pasted = str(data.get("kubeconfig") or "").strip()
        return pasted or (self.test.kubeconfig if self.test else "")

    def _judge(self, text: str) -> None:
        if self.errors.get("kubeconfig_file"):
            return
        if not text:
            self.add_error("kubeconfig", "Paste a kubeconfig, or upload one.")
            return
        try:
            self.risks = risks(text)
        except Unusable as error:
            self.add_error("kubeconfig", str(error))
        if self.risks and not self.cleaned_data.get("trusted"):
            self.add_error("trusted", "Say whether you trust it, for it acts on this machine.")

    def connection(self) -> str | None:
        """The kubeconfig, empty for our own pod's account, ``None`` to keep what there is."""
        text = str(self.cleaned_data["kubeconfig"])
        ways: dict[str, str | None] = {KEEP: None, IN_CLUSTER: "", KUBECONFIG: text}
        return ways[self.cleaned_data["way"]]

    def values(self) -> dict[str, str]:
        """Without the connection."""
        names = ("name", "namespace_prefix", *SETTINGS)
        return {name: self.cleaned_data[name] for name in names}


def initial(cluster: Cluster) -> dict[str, Any]:
    names = ("name", "namespace_prefix", *SETTINGS)
    return {name: getattr(cluster, name) for name in names} | {"way": KEEP}


def blank() -> dict[str, Any]:
    return {"way": KUBECONFIG, "namespace_prefix": Cluster().namespace_prefix}


class NodePoolForm(Form):
    NEEDED = ("name", "label_key")

    name = forms.CharField(label="Node pool name", required=False)
    label_key = forms.CharField(
        label="Label key", required=False, widget=forms.TextInput({**PLAIN, "list": "label-keys"})
    )
    label_value = forms.CharField(
        label="Label value",
        required=False,
        widget=forms.TextInput(PLAIN),
        help_text="Nodes that carry exactly this label are in the pool.",
    )
