"""Judge the answers of an identity provider."""

import logging
from collections.abc import Callable, Mapping
from ipaddress import ip_address
from typing import Annotated, Any
from urllib.parse import urlsplit

import requests
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from core.text import text_fault

log = logging.getLogger(__name__)

Text = Annotated[str, StringConstraints(pattern=r"^[^\x00]*$")]  # PostgreSQL stores no NUL
LONGEST_SUB = 191  # characters that allauth stores


class UnusableAnswer(Exception):
    """Nobody can be signed in with this answer. The message has no value of a person or token."""


class Claims(BaseModel):
    """What Trainyard takes of the user info and the ID token. Other claims may be anything."""

    model_config = ConfigDict(coerce_numbers_to_str=True, str_strip_whitespace=True)

    sub: Annotated[Text, Field(min_length=1, max_length=LONGEST_SUB)]
    email: Text | None = None
    preferred_username: Text | None = None
    name: Text | None = None
    given_name: Text | None = None
    family_name: Text | None = None


def merge_claims(
    userinfo: Mapping[str, Any], id_token: Mapping[str, Any], *, groups_claim: str
) -> dict[str, Any]:
    """The claims that are needed; those of the user info take precedence. Raises
    ``UnusableAnswer``, and pydantic's ``ValidationError`` if a claim is missing or wrong."""
    subs = {str(said["sub"]) for said in (userinfo, id_token) if said.get("sub") is not None}
    if len(subs) > 1:
        raise UnusableAnswer("its user info and its ID token have different subs")
    found = dict(id_token)
    if userinfo.get("email") is not None:
        found.pop("email_verified", None)  # the ID token vouches for its own address only
    found |= {name: value for name, value in userinfo.items() if value is not None}
    claims: dict[str, Any] = {"email_verified": found.get("email_verified") in (True, "true")}
    if (groups := found.get(groups_claim)) is not None:
        names = groups if isinstance(groups, list) else [groups]
        # A name that cannot be stored keeps nobody out.
        claims[groups_claim] = [it for it in names if isinstance(it, str) and not text_fault(it)]
    return claims | Claims.model_validate(found).model_dump(exclude_none=True)


def check_id_token(id_token: Mapping[str, Any], client_id: str) -> None:
    """Check what allauth does not: that the token expires and was issued for Trainyard, the
    provider's client with this id."""
    if id_token and id_token.get("exp") is None:
        raise UnusableAnswer("its ID token has no exp")
    if id_token.get("azp") not in (None, client_id):
        raise UnusableAnswer("its ID token was issued for another client, as its azp says")


def request_json_object(
    send: Callable[..., requests.Response], method: str, url: str, **options: Any
) -> Any:
    """Ask the provider with ``send``, the method of a session. ``UnusableAnswer`` unless it answers
    with a JSON object, without leading from https to http."""
    options["allow_redirects"] = method != "POST"  # tokens come from the token endpoint alone
    answer = send(method, url, **options)
    if is_safe_url(url) and not all(is_safe_url(step.url) for step in (*answer.history, answer)):
        raise UnusableAnswer(f"{url} redirects from https to http")
    if answer.status_code != requests.codes.ok:
        log.warning("%s answered %s: %.200s", url, answer.status_code, answer.text)
        raise UnusableAnswer(f"{url} answered {answer.status_code}")
    if not isinstance(answer.json(), dict):
        raise UnusableAnswer(f"the answer of {url} is not a JSON object")
    return answer


def is_safe_url(url: str) -> bool:
    """Whether nobody on the way can change what is answered: by TLS, or on this machine."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    try:
        is_here = host == "localhost" or ip_address(host).is_loopback
    except ValueError:  # a name
        is_here = False
    return parts.scheme == "https" or is_here
