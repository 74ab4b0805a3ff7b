"""``manage.py openapi``: print the OpenAPI document of a release."""

import json
from collections.abc import Iterator
from typing import Any

from django.core.management.base import BaseCommand

from config.rest.api import api

DEPTH = 3


class Command(BaseCommand):
    help = "Print the OpenAPI document, as docs/openapi.json keeps it"

    def handle(self, **options: Any) -> None:
        schema = json.loads(json.dumps(api.get_openapi_schema(), default=str))
        self.stdout.write("\n".join(_lines(schema, depth=0)))


def _lines(value: Any, depth: int) -> Iterator[str]:
    """Yield the document with a line for each path and schema, so that a diff shows what changed in
    few lines."""
    if depth == DEPTH or not isinstance(value, dict) or not value:
        yield json.dumps(value, sort_keys=True, ensure_ascii=False)
        return
    yield "{"
    last = max(value)
    for key in sorted(value):
        first, *rest = _lines(value[key], depth + 1)
        *inner, end = [f"{json.dumps(key)}: {first}", *rest]
        yield from inner
        yield end if key == last else f"{end},"
    yield "}"
