"""The part of a REST request that describes the connection to a Kubernetes cluster."""

from django.core.exceptions import ValidationError
from pydantic import Field, SecretStr

from clusters.kinds.kubernetes.kubeconfigs import LARGEST, require_trust, risks_of
from clusters.kinds.kubernetes.settings import PREFIX, KubernetesSecret
from clusters.kinds.wire import Connecting, tidy_text

WAYS = "Give the text of a kubeconfig, or inCluster: true, and not both."


class KubernetesConnecting(Connecting):
    """How to reach a cluster: the text of a kubeconfig, or the service account of Trainyard's own
    pod. ``trusted`` lets a kubeconfig run programs and read files of Trainyard's machine."""

    kubeconfig: SecretStr = Field(
        SecretStr(""),
        max_length=LARGEST,
        description="Kubernetes: the text of a kubeconfig; stored encrypted, never returned",
    )
    in_cluster: bool = Field(
        False, description="Kubernetes: connect as the service account of Trainyard's own pod"
    )
    trusted: bool = Field(
        False,
        description=(
            "Kubernetes: true for a kubeconfig that runs programs or reads files of Trainyard's "
            "machine"
        ),
    )
    namespace_prefix: str = PREFIX
    ingress_domain: str = ""
    ingress_class: str = ""
    prometheus_url: str = ""
    partial_gang_seconds: str = ""

    def secret(self, *, editing: bool) -> KubernetesSecret | None:
        text = tidy_text(self.kubeconfig)
        has_both = bool(text) and self.in_cluster
        has_neither = not text and not self.in_cluster
        if has_both or (has_neither and not editing):
            raise ValidationError({"kubeconfig": WAYS})
        if text:
            require_trust(risks_of(text), trusted=self.trusted)
        return None if has_neither else KubernetesSecret(kubeconfig=text)
