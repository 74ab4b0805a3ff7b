"""A third kind of cluster, as an additional package would bring it: settings, a secret, a form, a
schema for REST, and a row of the table. A fake engine answers for it."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Annotated

from django.core.validators import RegexValidator
from pydantic import SecretStr

from clusters.kinds.base import ClusterKind, ConnectionSecret, ConnectionSettings, rules
from clusters.kinds.form import ConnectionForm
from clusters.kinds.wire import Connecting
from clusters.models import Cluster
from core.forms.field import Field, Input
from engines.base import Engine, Launch
from engines.fake import FakeEngine
from spec.problems.errors import Problem

NO_VOLUMES = "An abacus mounts nothing."
host_rule = RegexValidator(r"^[a-z.]+\Z", "Write the name of a host.")


class AbacusSettings(ConnectionSettings):
    host: Annotated[str, rules(host_rule, required=True)] = ""
    rods: str = "10"


class AbacusSecret(ConnectionSecret):
    password: str = ""


class AbacusForm(ConnectionForm):
    FIELDS = (
        Field("host", "Counting house", required=True),
        Field("rods", "Rods"),
        Field("password", "Password", Input.SECRET),
    )


class AbacusConnecting(Connecting):
    host: str = ""
    rods: str = "10"
    password: SecretStr = SecretStr("")

    def secret(self, *, editing: bool) -> AbacusSecret | None:
        text = self.password.get_secret_value()
        return AbacusSecret(password=text) if text or not editing else None


@dataclass
class FakeAbacus:
    """The world of abacuses: the engine that answers for all of them, and what each connection
    used."""

    engine: FakeEngine = field(default_factory=lambda: FakeEngine(queues=True))
    reached: list[tuple[ConnectionSettings, ConnectionSecret]] = field(default_factory=list)

    def kind(self) -> ClusterKind:
        """Return the row of the table of kinds."""
        return AbacusKind(self)


class AbacusKind(ClusterKind):
    slug = "abacus"
    label = "Abacus"
    settings = AbacusSettings
    secret = AbacusSecret
    form = AbacusForm
    wire = AbacusConnecting
    connection_settings = frozenset({"host"})
    fixed_settings = MappingProxyType({"rods": "The beads of its projects are on them."})
    server = "Counting house"
    missing_sections = MappingProxyType({"storage": NO_VOLUMES})

    def __init__(self, abacus: FakeAbacus) -> None:
        self.abacus = abacus

    def connect(self, cluster: Cluster) -> Engine:
        reached = AbacusSettings.of(cluster), AbacusSecret.of(cluster.connection)
        self.abacus.reached.append(reached)
        return self.abacus.engine

    def complaints(self, cluster: Cluster, launch: Launch) -> Iterator[Problem]:
        if launch.spec.node_pools:
            yield Problem(("nodePools",), "an abacus has one pool of beads")
        if launch.spec.priority_class:
            yield Problem(("priorityClass",), "beads have no rank")
        yield from self.abacus.engine.complaints(launch)
