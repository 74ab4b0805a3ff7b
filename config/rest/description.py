"""Extends ninja's OpenAPI document with what applies to every call of Trainyard."""

from collections.abc import Iterator
from functools import cached_property
from typing import Any

from ninja import NinjaAPI
from ninja.operation import Operation

from config.rest.examples import EXAMPLES
from config.rest.links import link
from core.rest.api import DRY_RUN, ErrorBody, is_write, query_parameters_of
from workloads.api.spec_schemas import REFERENCE, resolve_markers, spec_definitions

Schema = dict[str, Any]
ERROR = "ErrorBody"
METHODS = ("get", "post", "put", "patch", "delete")
PATH_PARAMETERS = {
    "account_id": "The ID of the service account",
    "asset_id": "The ID of the asset, as lists show it in meta.id",
    "category_id": "The ID of the category",
    "channel_name": "The name of the channel",
    "cluster_id": "The ID of the cluster",
    "dataset_id": "The ID of the dataset",
    "delivery_id": "The ID of the delivery",
    "department_id": "The ID of the department",
    "key_id": "The ID of the access key",
    "node_id": "The ID of the node",
    "nodepool_name": "The name of the node pool; default is the pool of all other nodes",
    "pod_id": "The ID of the pod",
    "pool_id": "The ID of the node pool",
    "project_id": "The ID of the project",
    "role_id": "The ID of the role",
    "rule_id": "The number of the access rule",
    "security_key": "The key of the setting",
    "setting_key": "The key of the setting",
    "subscription_id": "The ID of the subscription",
    "template_id": "The ID of the template",
    "test_id": "The ID of the test",
    "type_id": "The ID of the workload type",
    "user_id": "The ID of the user",
    "webhook_id": "The ID of the webhook",
    "pool": "The name of the project",
    "workflow_id": "The ID of the workflow, or its label, such as train-3",
    "workload_id": "The ID of the workload",
    "version": "The number or the ID of the version, or latest",
}
#: Parameters of calls that return measurements, of which Trainyard lacks some.
MEASUREMENT_PARAMETERS = {"telemetryType", "metricType"}
#: The meaning of each error response, by its status code.
ERROR_MEANINGS = {
    400: "The request is wrong; complianceIssues names each field",
    401: "A valid token is needed",
    403: "You do not have the permission",
    404: "It does not exist, or you do not have access to it",
    409: "Its state, or a name that is taken, does not allow this",
    412: "It was changed since it was read",
    413: "The request is too large",
    422: "The Idempotency-Key was used for another request",
    429: "Too many failed sign-ins; Retry-After says when to come back",
    501: "Trainyard does not measure it",
    503: "The database is busy; Retry-After says when to come back",
    507: "Nothing can be saved",
}
DRY_RUN_PARAMETER = {
    "in": "query",
    "name": DRY_RUN,
    "required": False,
    "description": "true judges the call and answers as it would, but changes nothing",
    "schema": {"type": "boolean", "default": False},
}
IDEMPOTENCY_PARAMETER = {
    "in": "header",
    "name": "Idempotency-Key",
    "required": False,
    "description": "Within 24 hours the same request with the same key is done once",
    "schema": {"type": "string", "minLength": 1, "maxLength": 255},
}
IF_MATCH_PARAMETER = {
    "in": "header",
    "name": "If-Match",
    "required": False,
    "description": "The ETag of what was read; 412 if it was changed since",
    "schema": {"type": "string"},
}


class DescribedApi(NinjaAPI):
    """The API with Trainyard's document. Operation ids are names of functions, which stay the same
    if a function moves to another module."""

    def get_openapi_operation_id(self, operation: Operation) -> str:
        return operation.view_func.__name__

    def get_openapi_schema(self, **how: Any) -> Any:
        """Return the document, which is the same for everyone; callers must not change it. It is
        kept, because making it takes a second of a processor and anyone may ask for it."""
        return self._document

    @cached_property
    def _document(self) -> Any:
        schema = super().get_openapi_schema()
        schemas = schema["components"]["schemas"]
        schema["components"]["securitySchemes"] = {"Bearer": {"type": "http", "scheme": "bearer"}}
        schemas |= spec_definitions() | {ERROR: ErrorBody.model_json_schema(ref_template=REFERENCE)}
        schemas |= schemas[ERROR].pop("$defs", {})
        operations = {it.operation_id or it.view_func.__name__: it for it in self._operations()}
        for described in _iterate_calls(schema):
            _explain_call(described)
            _add_common_parts(described, operations[described["operationId"]])
        link(schema)
        for name, one in schemas.items():
            _tidy_properties(one)
            schemas[name] = resolve_markers(one)
        return schema

    def _operations(self) -> Iterator[Operation]:
        for router in self._get_bound_routers():
            for view in router.path_operations.values():
                yield from view.operations


def _iterate_calls(schema: Any) -> Iterator[Schema]:
    for calls in schema["paths"].values():
        yield from (call for method, call in calls.items() if method in METHODS)


def _add_common_parts(described: Schema, operation: Operation) -> None:
    """Add the parameters and error responses that ninja does not know of."""
    method = operation.methods[0]
    if operation.summary == operation.view_func.__name__.title().replace("_", " "):
        described["summary"] = described["operationId"].replace("_", " ").capitalize()
    if described.get("security"):  # by a token, whichever class checks it
        described["security"] = [{"Bearer": []}]
    more = []
    if is_write(operation):
        more += [DRY_RUN_PARAMETER] if DRY_RUN not in query_parameters_of(operation)[0] else []
        more += [IDEMPOTENCY_PARAMETER] if method == "POST" else [IF_MATCH_PARAMETER]
    described["parameters"] = [*described.get("parameters", ()), *more]
    refusal = {"application/json": {"schema": {"$ref": REFERENCE.format(model=ERROR)}}}
    for code in _error_codes(described, operation, method):
        described["responses"].setdefault(
            code, {"description": ERROR_MEANINGS[code], "content": refusal}
        )


def _error_codes(described: Schema, operation: Operation, method: str) -> Iterator[int]:
    is_open = operation.auth_param is None
    writes = method != "GET"
    yield from (400, 401, 503)
    if is_open:
        yield from (429, 507)
        return
    yield 403
    named = [it["name"] for it in described["parameters"]]
    if writes or "{" in operation.path or any(it.endswith(("Id", "Project")) for it in named):
        yield 404
    if not MEASUREMENT_PARAMETERS.isdisjoint(named):
        yield 501
    if writes:
        yield from (409, 413, 507)
        yield 422 if method == "POST" else 412


def _tidy_properties(schema: Any) -> None:
    """Remove titles that repeat a name, and defaults that a reference cannot have."""
    for one in schema.get("properties", {}).values():
        if isinstance(one, dict):
            one.pop("title", None)
            if isinstance(one.get("default"), dict):
                del one["default"]


def _explain_call(call: Schema) -> None:
    """Describe the parameters in the path, and add an example of the body."""
    for parameter in call.get("parameters", ()):
        if parameter["in"] == "path":
            parameter["description"] = PATH_PARAMETERS[parameter["name"]]
    body = call.get("requestBody")
    if body and (example := EXAMPLES.get(call["operationId"])):
        body["content"]["application/json"]["example"] = example
