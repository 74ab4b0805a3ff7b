"""``manage.py openapi``: the description of the API, as a release keeps it."""

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
    """A path or a schema on a line of its own: what a change changed is seen, in few lines."""
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
