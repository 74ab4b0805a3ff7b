"""Administrators' settings of a Kubernetes cluster."""

from dataclasses import replace
from datetime import timedelta
from typing import Annotated

from django.core.validators import MaxLengthValidator, RegexValidator, URLValidator
from pydantic import Field

from clusters.kinds.base import ConnectionSecret, ConnectionSettings, rules
from engines.base import Site
from engines.kubernetes.status.take_back import PATIENCE_SECONDS

PREFIX = "trainyard-"
LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
prefix_rule = RegexValidator(
    r"^[a-z][-a-z0-9]*\Z", "Start with a letter; use lower-case letters, digits and hyphens."
)
domain_rule = RegexValidator(
    rf"^{LABEL}(\.{LABEL})*\Z",
    "Write a domain such as apps.example.com: lower-case, without a scheme, a port or a star.",
)
seconds_rule = RegexValidator(
    r"^[0-9]{1,5}\Z", "Write a whole number of seconds, at most 99999; 0 means forever."
)
class_rule = RegexValidator(
    r"^[a-z0-9]([-a-z0-9.]*[a-z0-9])?\Z", "Write the name of an ingress class, such as nginx."
)
# A namespace is the prefix plus the project's name: 23 + 40 characters make a DNS label.
Prefix = Annotated[str, rules(MaxLengthValidator(23), prefix_rule, required=True)]
Domain = Annotated[str, rules(MaxLengthValidator(190), domain_rule)]
IngressClass = Annotated[str, rules(MaxLengthValidator(63), class_rule)]
Seconds = Annotated[str, rules(seconds_rule)]
Address = Annotated[str, rules(MaxLengthValidator(500), URLValidator(["http", "https"]))]


class KubernetesSettings(ConnectionSettings):
    namespace_prefix: Prefix = Field(
        PREFIX,
        description=(
            "Kubernetes: the beginning of the namespace of each project; cannot change while there "
            "are projects"
        ),
    )
    ingress_domain: Domain = Field(
        "", description="Kubernetes: the domain of the external URLs of tools"
    )
    ingress_class: IngressClass = Field(
        "", description="Kubernetes: the class of ingresses; empty for the cluster's default"
    )
    prometheus_url: Address = Field(
        "", description="Kubernetes: the URL of the Prometheus that has the usage of GPUs"
    )
    partial_gang_seconds: Seconds = Field(
        "",
        description=(
            "Kubernetes: seconds for which a gang may be placed in part, where nothing places "
            f"gangs as a whole; empty for {PATIENCE_SECONDS}, 0 forever"
        ),
    )

    @property
    def patience(self) -> timedelta:
        """How long a gang may be placed in part; zero means forever."""
        return timedelta(seconds=int(self.partial_gang_seconds or PATIENCE_SECONDS))

    def apply_to(self, site: Site) -> Site:
        domain = self.ingress_domain
        ingress_class = self.ingress_class
        return replace(site, ingress_domain=domain, ingress_class=ingress_class)


class KubernetesSecret(ConnectionSecret):
    kubeconfig: str = ""  # empty: the service account of our own pod
