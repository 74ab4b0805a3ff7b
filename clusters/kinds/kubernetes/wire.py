"""How REST connects a Kubernetes cluster."""

from typing import Any

from django.core.exceptions import ValidationError
from pydantic import Field, SecretStr

from clusters.kinds.kubernetes.form import IN_CLUSTER, KEEP, KUBECONFIG
from clusters.kinds.kubernetes.kubeconfigs import LARGEST
from clusters.kinds.kubernetes.settings import PREFIX
from clusters.kinds.wire import Connecting

WAYS = "Give the text of a kubeconfig, or inCluster: true, and not both."


class KubernetesConnecting(Connecting):
    """How to reach a cluster: the text of a kubeconfig, or the service account of Trainyard's own
    pod. ``trusted`` lets a kubeconfig run programs and read files of Trainyard's machine."""

    kubeconfig: SecretStr = Field(SecretStr(""), max_length=LARGEST)
    in_cluster: bool = False
    trusted: bool = False
    namespace_prefix: str = PREFIX
    ingress_domain: str = ""
    ingress_class: str = ""
    prometheus_url: str = ""

    def answers(self, *, editing: bool) -> dict[str, Any]:
        text = self.kubeconfig.get_secret_value()
        if (text and self.in_cluster) or not (text or self.in_cluster or editing):
            raise ValidationError({"kubeconfig": WAYS})
        way = IN_CLUSTER if self.in_cluster else KUBECONFIG if text else KEEP
        return super().answers(editing=editing) | {"way": way}
