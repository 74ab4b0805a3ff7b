"""REST requests as curl command lines to paste into a shell; ``$TOKEN`` holds the bearer token."""

import json
import shlex
from typing import Any

BEARER = '-H "Authorization: Bearer $TOKEN"'
JSON = "-H 'Content-Type: application/json'"
#: Extracts the token with sed, because jq may not be installed.
ANSWER_FILTER = """sed 's/.*"accessToken": *"\\([^"]*\\)".*/\\1/'"""


def get(address: str) -> str:
    return f"curl -sS {shlex.quote(address)} {BEARER}"


def post(address: str, body: Any) -> str:
    return " \\\n  ".join(
        [f"curl -sS {shlex.quote(address)}", BEARER, *_body_arguments(body, indent=2)]
    )


def sign_in(address: str, body: Any) -> str:
    """A command line that signs in and sets ``TOKEN`` in the shell."""
    request = " \\\n  ".join([f"curl -sS {shlex.quote(address)}", *_body_arguments(body)])
    return f"TOKEN=$({request} |\n  {ANSWER_FILTER})"


def _body_arguments(body: Any, indent: int | None = None) -> list[str]:
    text = json.dumps(body, ensure_ascii=False, indent=indent)
    return [JSON, f"-d {shlex.quote(text)}"]
