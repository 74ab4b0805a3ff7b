"""The form of a Kubernetes cluster. Trainyard connects by a kubeconfig, which is checked before it
is used, or by the service account of its own pod."""

from typing import TYPE_CHECKING

from clusters.kinds.base import ClusterKind
from clusters.kinds.form import ConnectionForm
from clusters.kinds.kubernetes.kubeconfigs import LARGEST, require_trust, risks_of
from clusters.kinds.kubernetes.settings import KubernetesSecret
from core.forms.field import Field, Input, Option, Values
from core.forms.form import collect_errors
from core.forms.items import Offered
from engines.kubernetes.status.take_back import PATIENCE_SECONDS

if TYPE_CHECKING:
    from clusters.models import Cluster

KUBECONFIG = "kubeconfig"
IN_CLUSTER = "in_cluster"
KEEP = "keep"
WAYS: list[Option] = [
    (KUBECONFIG, "A kubeconfig"),
    (IN_CLUSTER, "The service account of Trainyard's own pod"),
]
EDIT_WAYS = [(KEEP, "As it is"), *((way, f"{words}, from now on") for way, words in WAYS)]
KUBECONFIG_HINT = (
    "Leave empty to use the one you just entered, which is stored encrypted for an hour."
)


class KubernetesForm(ConnectionForm):
    RESTORED = ("way", "trusted")
    FIELDS = (
        Field("way", "Connect by", Input.RADIO, choices="ways", required=True),
        Field("kubeconfig", "Kubeconfig", Input.SECRET_LINES),
        Field(
            "kubeconfig_file",
            "Or upload it",
            Input.FILE,
            hint="It is stored encrypted and never shown again.",
        ),
        Field("trusted", "I trust this kubeconfig", Input.FLAG),
        Field(
            "namespace_prefix",
            "Namespace prefix",
            hint="Each project gets a namespace: this prefix and the project's name. It "
            "cannot change once there are projects.",
            required=True,
            literal=True,
        ),
        Field(
            "ingress_domain",
            "Domain for tools",
            hint="External URLs of tools end with it. Its DNS names must point to the ingress "
            "controller.",
            placeholder="apps.example.com",
            literal=True,
        ),
        Field(
            "ingress_class",
            "Ingress class",
            hint="Leave empty to use the cluster's default.",
            placeholder="nginx",
            literal=True,
        ),
        Field(
            "prometheus_url",
            "Prometheus URL",
            hint="Source of GPU usage, with the metric names of NVIDIA's DCGM exporter.",
            placeholder="http://prometheus.example.com:9090",
            literal=True,
        ),
        Field(
            "partial_gang_seconds",
            "Seconds for which a gang may be placed in part",
            hint="Where neither KAI nor Kueue places gangs as a whole. Then its ranks give their "
            "nodes back, and the gang is tried again later, the oldest first. 0 means forever.",
            placeholder=str(PATIENCE_SECONDS),
            literal=True,
        ),
    )

    @classmethod
    def choices(cls, *, editing: bool) -> Offered:
        return {"ways": EDIT_WAYS if editing else WAYS}

    @classmethod
    def blank_values(cls, kind: ClusterKind) -> Values:
        return super().blank_values(kind) | {"way": KUBECONFIG}

    @classmethod
    def initial_values(cls, cluster: "Cluster") -> Values:
        return super().initial_values(cluster) | {"way": KEEP}

    @property
    def kubeconfig_hint(self) -> str:
        return KUBECONFIG_HINT if self._tested_kubeconfig() else ""

    def _tested_kubeconfig(self) -> str:
        secret = self.test.secret if self.test else None
        return secret.kubeconfig if isinstance(secret, KubernetesSecret) else ""

    def check_secret(self) -> None:
        if self.text("way") != KUBECONFIG or self["kubeconfig"].errors:
            return
        uploaded = self._uploaded_text()
        pasted = self.text("kubeconfig") or self._tested_kubeconfig()
        text = pasted if uploaded is None else uploaded
        self.values["kubeconfig"] = text
        if self["kubeconfig_file"].errors:
            return
        if not text:
            self.add_error("kubeconfig", "Paste a kubeconfig, or upload one.")
            return
        with collect_errors(self):
            self.risks = risks_of(text)
            require_trust(self.risks, trusted=bool(self.values.get("trusted")))

    def _uploaded_text(self) -> str | None:
        """Return the uploaded text; ``None`` if there is none that can be read."""
        upload = self.files.get("kubeconfig_file")
        if upload is None:
            return None
        size = upload.size or 0
        if not size:
            self.add_error("kubeconfig_file", "The submitted file is empty.")
        elif size > LARGEST:
            self.add_error("kubeconfig_file", "It is larger than 256 KiB: not a kubeconfig.")
        else:
            try:
                return str(upload.read().decode()).strip()
            except UnicodeDecodeError:
                self.add_error("kubeconfig_file", "It is not text.")
        return None

    def posted_secret(self) -> KubernetesSecret | None:
        text = "" if self["kubeconfig"].errors else self.text("kubeconfig")
        return KubernetesSecret(kubeconfig=text) if text else None

    def secret(self) -> KubernetesSecret | None:
        ways = {KEEP: None, IN_CLUSTER: KubernetesSecret(), KUBECONFIG: self.posted_secret()}
        return ways[self.text("way")]
