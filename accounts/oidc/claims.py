"""What Trainyard needs to know of a person, from the user info and the ID token. Pure."""

import json
import re
from base64 import urlsafe_b64decode
from collections.abc import Mapping
from typing import Any

from core.text import fault_of

Claims = dict[str, Any]

TEXTS = ("email", "preferred_username", "name", "given_name", "family_name")
LONGEST_SUB = 191  # characters that allauth stores of it
TIMES = ("exp", "iat", "nbf")
LATEST = 10**11  # seconds since 1970, in the year 5138; caches take no end that is much later
HEADER_VALUE = re.compile(r"[\x21-\x7e]+")  # what may follow "Bearer " in a header


class OddAnswer(Exception):
    """An answer that nobody can be signed in with. The message says what is wrong with it, as in
    "its user info has no sub"."""


def claims_of(document: Mapping[str, Any], source: str, groups: str) -> Claims:
    """The claims that are needed, with ``groups``, the name of the claim of a person's groups.
    ``source`` is where they are from, such as "user info". One that is null is not there."""
    given = {name: value for name, value in document.items() if value is not None}
    claims: Claims = {name: _text(given[name], name, source) for name in TEXTS if name in given}
    if "sub" in given:
        claims["sub"] = _sub(given["sub"], source)
    if "email_verified" in given:
        claims["email_verified"] = given["email_verified"] in (True, "true")
    if groups in given and groups not in claims:
        claims[groups] = _names(given[groups])
    return claims


def merged(userinfo: Claims, id_token: Claims) -> Claims:
    """What both say. The user info is later and says more; whoever it is, is the same in both.
    That an address is verified is only said of the one beside it."""
    subs = {said["sub"] for said in (userinfo, id_token) if "sub" in said}
    if not subs:
        sources = "user info and ID token have" if id_token else "user info has"
        raise OddAnswer(f"its {sources} no sub")
    if len(subs) > 1:
        raise OddAnswer("its user info and its ID token have different subs")
    kept = dict(id_token)
    if "email" in userinfo:
        kept.pop("email_verified", None)
    return {**kept, **userinfo}


def judge_alone(id_token: Mapping[str, Any]) -> None:
    """Judge an ID token that nothing else says anything beside, as there is no user info."""
    if not id_token:
        raise OddAnswer(
            "its configuration has no userinfo_endpoint, and its token response has no id_token"
        )
    if id_token.get("sub") is None:
        raise OddAnswer("its ID token has no sub")


def judge_validity(id_token: Mapping[str, Any], client_id: str) -> None:
    """Judge what allauth does not: that an ID token ends, and that it was issued for Trainyard, the
    provider's client with this id."""
    if id_token.get("exp") is None:
        raise OddAnswer("its ID token has no exp")
    if id_token.get("azp") not in (None, client_id):
        raise OddAnswer("its ID token was issued for another client, as its azp says")


def judge_tokens(answer: Mapping[str, Any]) -> dict[str, str]:
    """The tokens that are needed. Whether they can be renewed, and until when they are valid, does
    not matter: they are used once, at once."""
    if not answer.get("access_token"):
        raise OddAnswer("its token response has no access_token")
    names = [name for name in ("access_token", "id_token") if answer.get(name) not in (None, "")]
    for name in names:
        value = answer[name]
        if not (isinstance(value, str) and HEADER_VALUE.fullmatch(value)):
            raise OddAnswer(f"the {name} in its token response is not a token")
    if "id_token" in names:
        _judge_id_token(answer["id_token"])
    return {name: answer[name] for name in names}


def _judge_id_token(token: str) -> None:
    """Judge what the library that checks it takes for granted."""
    try:
        parts = [json.loads(urlsafe_b64decode(f"{it}===")) for it in token.split(".")[:2]]
    except (ValueError, RecursionError) as error:
        raise OddAnswer("its ID token cannot be read") from error
    if len(parts) < 2 or not all(isinstance(it, dict) for it in parts):
        raise OddAnswer("its ID token cannot be read")
    payload = parts[1]
    for name in TIMES:
        time = payload.get(name, 0)
        if isinstance(time, bool) or not isinstance(time, int | float) or not 0 <= time < LATEST:
            raise OddAnswer(f"the {name} in its ID token is not a time")


def _text(value: Any, name: str, source: str) -> str:
    if not isinstance(value, str):
        raise OddAnswer(f"the {name} in its {source} is not text")
    if fault := fault_of(value):
        raise OddAnswer(f"the {name} in its {source} {fault}")
    return value


def _names(value: Any) -> list[str]:
    """A claim of groups: a list of names, or one. Nobody is kept out by any other."""
    names = value if isinstance(value, list) else [value]
    return [name for name in names if isinstance(name, str) and not fault_of(name)]


def _sub(value: Any, source: str) -> str:
    """Some providers give a number, which is text everywhere else."""
    is_number = isinstance(value, int) and not isinstance(value, bool)
    sub = _text(str(value) if is_number else value, "sub", source)
    if not sub.strip():
        raise OddAnswer(f"the sub in its {source} is empty")
    if len(sub) > LONGEST_SUB:
        raise OddAnswer(f"the sub in its {source} is longer than {LONGEST_SUB} characters")
    return sub
