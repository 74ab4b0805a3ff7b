"""REST: the requests and answers about clusters and connection tests. Secrets are never
returned."""

from copy import copy
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema
from pydantic import ValidationError as SchemaError
from pydantic.alias_generators import to_camel

from accounts import access
from accounts.models import User
from clusters import services
from clusters.connection_tests import is_late, rights_to_apply
from clusters.kinds import KINDS, addable, addable_kind
from clusters.kinds.base import ClusterKind, ConnectionSecret
from clusters.kinds.wire import Connecting
from clusters.models import Cluster, ConnectionTest, State
from core.rest.api import TENANT, ApiError, Issue, Wire, enum_schema
from core.rest.validation import run_rules
from engines.findings import Level
from spec.problems.errors import problems_in

REFUSED = "The cluster cannot be saved."
TEST_IS_RUNNING = "A worker is testing the connection. Try again in a second."
TEST_IS_LATE = "No worker picked up the test within a minute. Check whether the worker is running."


def _settings_schema(kind: ClusterKind) -> dict[str, Any]:
    fields = {
        to_camel(name): {"type": "string", "description": field.description}
        for name, field in kind.settings.model_fields.items()
    }
    return {"type": "object", "title": kind.label, "properties": fields}


SETTINGS = {"anyOf": [*map(_settings_schema, KINDS.values()), {"type": "null"}]}


class ClusterState(Wire):
    state: Annotated[str, enum_schema(*State)] = Field(description="The state of the connection")
    message: str = Field(
        description="What happened, in one sentence; empty if there is nothing to say"
    )


class ClusterOut(Wire):
    """``settings`` is null for callers who may not change the cluster. The connection is never
    returned."""

    uuid: UUID = Field(description="Its ID")
    tenant_id: int = Field(default=TENANT, description="Always 1: there is one account")
    name: str = Field(description="The name")
    kind: str = Field(description="The kind of cluster, such as kubernetes")
    status: ClusterState = Field(description="Its status")
    settings: Annotated[dict[str, Any] | None, WithJsonSchema(SETTINGS)] = Field(
        description="The settings of its kind; null for callers who may not change the cluster"
    )
    created_at: datetime = Field(description="When it was created")
    checked_at: datetime | None = Field(
        description="When a worker last checked the cluster; null before the first check"
    )

    @classmethod
    def of(cls, cluster: Cluster, user: User) -> "ClusterOut":
        may_change = access.may(user, "clusters.update", *cluster.scope_keys)
        settings = {to_camel(key): value for key, value in cluster.settings_json.items()}
        return cls(
            uuid=cluster.pk,
            name=cluster.name,
            kind=cluster.kind,
            status=ClusterState(state=cluster.state, message=cluster.state_message),
            settings=settings if may_change else None,
            created_at=cluster.created_at,
            checked_at=cluster.checked_at,
        )


def _add_fields_of_kinds(schema: dict[str, Any]) -> None:
    """Add the fields of every kind of cluster to the schema."""
    for kind in addable():
        fields = kind.wire.model_json_schema(by_alias=True)["properties"] if kind.wire else {}
        for name, setting in kind.settings.model_fields.items():
            fields[to_camel(name)]["description"] = setting.description
        schema["properties"] |= fields
    schema["additionalProperties"] = False


class ConnectingIn(BaseModel):
    """How to reach a cluster, with the fields that its kind needs. ``kind`` is one of Trainyard's
    kinds of cluster; if it is missing, Kubernetes."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        populate_by_name=True,
        extra="allow",
        json_schema_extra=_add_fields_of_kinds,
    )

    kind: str = Field(
        "", description="The kind of cluster, kubernetes by default; a saved cluster keeps its kind"
    )


class ClusterIn(ConnectingIn):
    name: str = Field(description="The name of the cluster")


class ClusterChange(ConnectingIn):
    """Missing fields do not change, and neither does the connection."""

    name: str = Field("", description="The name of the cluster")


class TestIn(ConnectingIn):
    """A saved cluster, by ``clusterId`` alone, or a connection that has not been saved yet."""

    cluster_id: UUID | None = Field(
        None,
        description=(
            "The ID of a saved cluster; leave it out to test a connection that is not saved yet"
        ),
    )


class FindingOut(Wire):
    """``level`` is ok, warning (optional), issue (not working well), missing (nothing runs without
    it) or refused (nothing may be submitted)."""

    area: str = Field(description="The part of the cluster that was tested, such as Permissions")
    name: str = Field(description="What was looked at")
    level: Annotated[str, enum_schema(*Level)] = Field(
        description=(
            "ok, warning (optional), issue (does not work well), missing (nothing runs without it) "
            "or refused (nothing can be submitted)"
        )
    )
    text: str = Field(description="What was found")


class TestOut(Wire):
    """``answeredAt`` is null until the test is done; ``message`` says what it waits for.
    ``manifest`` is the YAML that grants the permissions, if one is refused."""

    id: UUID = Field(description="Its ID")
    cluster_id: UUID | None = Field(description="The ID of the cluster")
    created_at: datetime = Field(description="When it was created")
    answered_at: datetime | None = Field(description="When the test ended; null until then")
    message: str = Field(description="What the test is waiting for; empty once it has ended")
    findings: list[FindingOut] = Field(description="What was found, part by part")
    manifest: str = Field(
        description="The YAML that grants the permissions; empty unless one is refused"
    )

    @classmethod
    def of(cls, test: ConnectionTest) -> "TestOut":
        message = ""
        if is_late(test):
            message = TEST_IS_LATE
        elif test.answered_at is None:
            message = TEST_IS_RUNNING
        return cls(
            id=test.pk,
            cluster_id=test.cluster_id,
            created_at=test.created_at,
            answered_at=test.answered_at,
            message=message,
            findings=[FindingOut.from_orm(finding) for finding in test.findings],
            manifest=rights_to_apply(test.definition, test.findings),
        )


def requested_kind(body: ConnectingIn, cluster: Cluster | None = None) -> ClusterKind:
    """Return the kind of cluster in a request. ``ApiError`` 400 if such clusters cannot be
    added."""
    kind = cluster.definition if cluster else addable_kind(body.kind)
    if kind is None or body.kind not in {"", kind.slug}:
        names = ", ".join(known.slug for known in addable())
        raise ApiError(400, REFUSED, issues=[Issue(field="kind", details=f"is one of {names}")])
    return kind


def connection_fields(body: ConnectingIn, kind: ClusterKind) -> Connecting:
    """Return the fields of a request that the kind needs. ``ApiError`` 400 lists all that cannot be
    read; 409 if the kind has none."""
    if kind.wire is None:
        raise ApiError(409, f"{kind.label}: this kind of cluster has no settings.")
    try:
        return kind.wire.model_validate(body.model_extra)
    except SchemaError as error:
        issues = [
            Issue(field=problem.field, details=problem.message, rule=problem.rule)
            for problem in problems_in(error)
        ]
        raise ApiError(400, "The request could not be read.", issues=issues) from error


def requested_secret(
    fields: Connecting, cluster: Cluster, *, name: str, editing: bool = False
) -> ConnectionSecret | None:
    """Return the secret in a request; ``None`` keeps the stored one. ``ValidationError`` has every
    problem of the secret, the name and the settings."""
    secrets: list[ConnectionSecret | None] = []
    candidate = copy(cluster)
    settings = fields.settings(cluster.definition)
    run_rules(
        lambda: secrets.append(fields.secret(editing=editing)),
        lambda: services.set_and_validate(candidate, name=name, settings=settings),
    )
    return secrets[0]
