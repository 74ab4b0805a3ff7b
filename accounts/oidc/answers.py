"""Check the answers of an identity provider."""

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
    """Nobody can be signed in with this answer. The message contains no personal data and no
    token."""


class Claims(BaseModel):
    """The claims that Trainyard reads from the user info and the ID token. Others are ignored."""

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
    """Return the claims that Trainyard needs. Those of the user info take precedence over those of
    the ID token. ``UnusableAnswer`` if they contradict each other, and pydantic's
    ``ValidationError`` if a claim is missing or wrong."""
    sources = (userinfo, id_token)
    subs = {str(source["sub"]) for source in sources if source.get("sub") is not None}
    if len(subs) > 1:
        raise UnusableAnswer("its user info and its ID token have different subs")
    merged = dict(id_token)
    if userinfo.get("email") is not None:
        merged.pop("email_verified", None)  # the ID token only vouches for its own address
    merged |= {name: value for name, value in userinfo.items() if value is not None}
    claims: dict[str, Any] = {"email_verified": merged.get("email_verified") in (True, "true")}
    groups = merged.get(groups_claim)
    if groups is not None:
        names = groups if isinstance(groups, list) else [groups]
        # A name that cannot be stored is left out; it must not keep the user from signing in.
        claims[groups_claim] = [
            name for name in names if isinstance(name, str) and not text_fault(name)
        ]
    return claims | Claims.model_validate(merged).model_dump(exclude_none=True)


def check_id_token(id_token: Mapping[str, Any], client_id: str) -> None:
    """Check what allauth does not check: that the token expires, and that it was issued for
    Trainyard, which is the provider's client ``client_id``. ``UnusableAnswer`` otherwise."""
    if id_token and id_token.get("exp") is None:
        raise UnusableAnswer("its ID token has no exp")
    if id_token.get("azp") not in (None, client_id):
        raise UnusableAnswer("its ID token was issued for another client, as its azp says")


def request_json_object(
    send: Callable[..., requests.Response], method: str, url: str, **options: Any
) -> Any:
    """Send a request to the provider with ``send``, the method of a session, and return the
    response. ``UnusableAnswer`` unless it is a JSON object that was reached without a redirect from
    https to http."""
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
    """Whether nobody can change the answer on its way: it comes by TLS, or from this machine."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    try:
        is_here = host == "localhost" or ip_address(host).is_loopback
    except ValueError:  # a name
        is_here = False
    return parts.scheme == "https" or is_here
