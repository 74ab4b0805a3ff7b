"""Find out what using a kubeconfig would do, without doing it."""

from collections.abc import Iterator
from typing import Any

from django.core.exceptions import ValidationError

from engines.kubernetes.client import kubeconfig

LARGEST = 256 * 1024  # bytes
FILES = {
    "tokenFile": "reads the token in {}",
    "client-certificate": "reads the certificate in {}",
    "client-key": "reads the key in {}",
    "certificate-authority": "reads the authority in {}",
}


class UnusableKubeconfig(ValidationError):
    """The text is not a kubeconfig, or does not name a cluster. The message says what is
    missing."""

    def __init__(self, text: str) -> None:
        super().__init__({"kubeconfig": text})


def require_trust(risks: list[str], *, trusted: bool) -> None:
    """Raise ``ValidationError`` if there are risks and the kubeconfig was not marked as trusted."""
    if risks and not trusted:
        text = f"Confirm that you trust it, because on this machine it {'; it '.join(risks)}."
        raise ValidationError({"trusted": text})


def risks_of(text: str) -> list[str]:
    """Return, in words, what using the kubeconfig does on Trainyard's machine besides connecting to
    the cluster.

    Only the current context matters. ``UnusableKubeconfig`` says what is wrong with the text.
    """
    try:
        document = kubeconfig.parse_kubeconfig(text)
    except kubeconfig.UnfitYaml as error:
        raise UnusableKubeconfig(f"It is not a kubeconfig. {error}") from error
    current = document.get("current-context")
    if not current:
        raise UnusableKubeconfig(
            "It has no current-context. Set one: kubectl config use-context NAME."
        )
    context = _find_entry(document, "context", str(current))
    cluster = _find_entry(document, "cluster", str(context.get("cluster", "")))
    if not cluster.get("server"):
        raise UnusableKubeconfig("Its cluster has no server.")
    user = _find_entry(document, "user", str(context["user"])) if context.get("user") else {}
    return [*_risks_in(user), *_risks_in(cluster)]


def _risks_in(part: dict[str, Any]) -> Iterator[str]:
    plugin = _mapping(part, "exec")
    if plugin:
        yield f"runs the program {plugin.get('command', '?')}"
    provider = _mapping(part, "auth-provider")
    if provider:
        yield f"signs in by {provider.get('name', '?')}, which may run a program"
    for key, words in FILES.items():
        if part.get(key):
            yield words.format(part[key])
    if part.get("insecure-skip-tls-verify"):
        yield "accepts any server as the cluster (insecure-skip-tls-verify)"


def _mapping(part: dict[str, Any], key: str) -> dict[str, Any]:
    value = part.get(key) or {}
    if not isinstance(value, dict):
        raise UnusableKubeconfig(f"Its {key} is not a mapping.")
    return value


def _find_entry(document: dict[str, Any], kind: str, name: str) -> dict[str, Any]:
    """Return an entry by its name from a list such as ``clusters``. ``UnusableKubeconfig`` if there
    is none."""
    entries = document.get(f"{kind}s")
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict) and entry.get("name") == name:
            content = entry.get(kind)
            if isinstance(content, dict):
                return content
    raise UnusableKubeconfig(f"It has no {kind} named {name or 'in its current context'}.")
