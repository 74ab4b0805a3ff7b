"""Run:ai's flags for personal credentials: ``--env-my-credentials`` and
``--image-pull-my-credentials``. Here a name may mean a personal credential or a shared one, so both
map to the usual flags."""

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from trainyard_cli.flags.values import BadValue, Environ, ValueKind, kind_by_name, variable_kind

TYPE = "type"
NAME = "name"
CREDENTIAL = "credential-name"
KEY = "key"


def _words(text: str, needed: Collection[str]) -> dict[str, str]:
    """Parse words like ``type=generic-secret,name=…``, which must be those in ``needed``.

    The type is ignored, because the credential has one. Raises ``BadValue``.
    """
    words = dict(part.partition("=")[::2] for part in text.split(","))
    words.pop(TYPE, None)
    if words.keys() != set(needed) or not all(words.values()):
        raise BadValue(f"{text!r} is not {','.join(f'{it}=' for it in needed)}")
    return words


def _variable_kind() -> ValueKind:
    kind = variable_kind("credential")

    def read(text: str, environ: Environ) -> Any:
        if f"{CREDENTIAL}=" not in text:
            return kind.read(text, environ)
        words = _words(text, (NAME, CREDENTIAL, KEY))
        return kind.read(f"{words[NAME]}={words[CREDENTIAL]},key={words[KEY]}", environ)

    return replace(kind, read=read)


def _pull_kind() -> ValueKind:
    kind = kind_by_name(credential=True)

    def read(text: str, environ: Environ) -> Any:
        return kind.read(_words(text, (NAME,))[NAME] if "=" in text else text, environ)

    return replace(kind, read=read)


KEY_OF_CREDENTIAL = _variable_kind()
PULL_CREDENTIAL = _pull_kind()
