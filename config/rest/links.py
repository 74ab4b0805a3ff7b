"""Links of the OpenAPI document, from the call that creates something to those that read, change
and delete it."""

from typing import Any

Schema = dict[str, Any]
#: Where a response has the id of the created object.
IDS = ("workloadId", "uuid", "id")
IN_META = ("meta", "id")


def link(document: Schema) -> None:
    """Add links to each call that creates something."""
    for path, calls in document["paths"].items():
        for code, answer in calls.get("post", {}).get("responses", {}).items():
            pointer = _pointer(answer, document) if str(code) in {"201", "202"} else ""
            if pointer and (links := _links(path, pointer, document)):
                answer["links"] = links


def _links(path: str, pointer: str, document: Schema) -> Schema:
    links: Schema = {}
    for other, calls in document["paths"].items():
        rest = other.removeprefix(f"{path}/{{")
        if rest == other:
            continue
        name = rest.partition("}")[0]
        for call in calls.values():
            operation = call["operationId"]
            links[operation] = {
                "operationId": operation,
                "parameters": {name: f"$response.body#{pointer}"},
            }
    return links


def _pointer(answer: Schema, document: Schema) -> str:
    """A pointer to the id in a response; empty if it has none."""
    schema = answer.get("content", {}).get("application/json", {}).get("schema", {})
    name = schema.get("$ref", "").rpartition("/")[2]
    fields = document["components"]["schemas"].get(name, {}).get("properties", {})
    if IN_META[0] in fields:
        return "/" + "/".join(IN_META)
    return next((f"/{field}" for field in IDS if field in fields), "")
