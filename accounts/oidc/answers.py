"""Read what an identity provider answers, whatever that is. ``failed`` says what is wrong."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings

from accounts.oidc.claims import OddAnswer, claims_of, judge_tokens
from accounts.oidc.failures import failed

LARGEST = 1024**2  # bytes of an answer that are read
CHUNK = 64 * 1024
SUCCESS = range(200, 300)
CODE = re.compile(r"\w{1,60}", re.ASCII)  # of an error, such as invalid_client
METHODS = "token_endpoint_auth_methods_supported"

TOKENS, USER_INFO, KEYS = "token response", "user info", "keys"
CONFIGURATION = "configuration"
USER_INFO_ENDPOINT, TOKEN_ENDPOINT = "userinfo_endpoint", "token_endpoint"
NO_ADDRESS = ""  # of user info that a provider does not have
WITHOUT_SUB = ", which is needed where no user info has the sub"


@dataclass(frozen=True)
class ProviderAnswer:
    """What allauth reads of an answer: that of ``requests``, once it is judged."""

    document: dict[str, Any] | None
    status_code: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: {"content-type": "application/json"})

    def json(self) -> dict[str, Any] | None:
        return self.document

    def raise_for_status(self) -> None:
        """It was a success."""


class Configuration(dict[str, Any]):
    """What the provider says of itself. An address is judged where it is needed: many have some
    that Trainyard does not use. Some have no user info, as their ID tokens say everything."""

    url = ""

    def __getitem__(self, name: str) -> Any:
        value = self.get(name)
        if value in (None, "") and name == USER_INFO_ENDPOINT:
            return NO_ADDRESS
        if value in (None, ""):
            raise failed(f"its {CONFIGURATION} has no {name}", self.url)
        if not (isinstance(value, str) and (name == "issuer" or _is_address(value))):
            raise failed(f"the {name} in its {CONFIGURATION} is not an address", self.url)
        return value

    def require_encryption(self) -> None:
        """Of a provider whose ID token alone says who somebody is. Nobody checks its signature, so
        it has to come straight from the provider, by TLS or on this machine."""
        if not _is_safe(self.url):
            raise failed(f"its {CONFIGURATION} is not fetched by https{WITHOUT_SUB}", self.url)
        if not _is_safe(endpoint := self[TOKEN_ENDPOINT]):
            raise failed(
                f"the {TOKEN_ENDPOINT} in its {CONFIGURATION} is not https{WITHOUT_SUB}", endpoint
            )


def asked(ask: Callable[..., Any], method: str, url: str, **how: Any) -> ProviderAnswer:
    """Ask the provider with ``ask`` of a session of ``requests``. A page says what is wrong, as
    allauth asks in places where nothing else does."""
    what = _subject(method, url, how)
    if what == USER_INFO and url == NO_ADDRESS:
        return ProviderAnswer(None)
    if what == TOKENS:
        how["allow_redirects"] = False  # they come from the token endpoint, and nowhere else
    try:
        with ask(method, url, stream=True, **how) as answer:
            _judge_way(url, answer, what)
            content = _content(answer, what)
    except (OSError, ValueError) as error:  # of requests, and of addresses that it cannot ask
        raise failed(f"its {what} cannot be fetched", url, error) from error
    except OddAnswer as error:
        raise failed(str(error), url) from error
    try:
        return ProviderAnswer(_judged(content, answer.status_code, what, url))
    except OddAnswer as error:
        raise failed(str(error), url) from error


def _subject(method: str, url: str, how: Mapping[str, Any]) -> str:
    """What allauth asks for."""
    if method.upper() == "POST":
        return TOKENS
    if "Authorization" in (how.get("headers") or {}):
        return USER_INFO
    return CONFIGURATION if "openid-configuration" in url else KEYS


def _judge_way(url: str, answer: Any, what: str) -> None:
    """Judge where redirects led. ``OddAnswer``."""
    way = [it.url or url for it in (*answer.history, answer)]
    if _is_safe(url) and not all(map(_is_safe, way)):
        raise OddAnswer(f"its {what} is redirected from https to http")


def _content(answer: Any, what: str) -> bytes:
    content = b""
    for chunk in answer.iter_content(CHUNK):
        content += chunk
        if len(content) > LARGEST:
            raise OddAnswer(f"its {what} is larger than {LARGEST // 1024**2} MiB")
    return content


def _judged(content: bytes, status: int, what: str, url: str) -> dict[str, Any]:
    """The document with what is needed of it. ``OddAnswer``."""
    try:
        document = json.loads(content)
    except (ValueError, RecursionError) as error:
        if status in SUCCESS:
            raise OddAnswer(f"its {what} is not JSON") from error
        document = {}
    if status not in SUCCESS:
        raise OddAnswer(f"it answered {status}{_code(document)} when asked for its {what}")
    if not isinstance(document, dict):
        raise OddAnswer(f"its {what} is not a JSON object")
    if what == TOKENS:
        return dict(judge_tokens(document))
    if what == USER_INFO:
        return claims_of(document, USER_INFO, settings.OIDC_GROUPS_CLAIM)
    return _configuration(document, url) if what == CONFIGURATION else document


def _configuration(document: dict[str, Any], url: str) -> Configuration:
    configuration = Configuration(document)
    configuration.url = url
    if not isinstance(methods := configuration.pop(METHODS, None) or [], list):
        raise OddAnswer(f"the {METHODS} in its {CONFIGURATION} are not a list")
    configuration[METHODS] = methods
    return configuration


def _code(document: Any) -> str:
    """The code of an error, where there is one."""
    code = document.get("error") if isinstance(document, dict) else None
    return f" ({code})" if isinstance(code, str) and CODE.fullmatch(code) else ""


def _is_safe(url: str) -> bool:
    """Whether nobody between can change what is answered: by TLS, or on this machine."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    try:
        is_here = host == "localhost" or ip_address(host).is_loopback
    except ValueError:  # a name
        is_here = False
    return parts.scheme == "https" or is_here


def _is_address(text: str) -> bool:
    """Whether it is one that a browser can be sent to, and that can be asked."""
    try:
        parts = urlsplit(text)
        is_whole = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:  # of a port, or of brackets
        return False
    return is_whole and text.isascii() and text.isprintable() and " " not in text
