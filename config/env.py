"""Read settings from the environment. A wrong value raises ``ImproperlyConfigured`` with
its name."""

import os
import re
import secrets
from collections.abc import Sequence
from ipaddress import ip_network
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

BUCKET_NAME = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
SHORTEST_KEY = 20  # characters; generated keys have 67
SQLITE_PRAGMAS = (
    "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA cache_size=-32000; "
    # A background thread checkpoints the write-ahead log (core/sqlite/checkpoints.py). Writers do
    # it themselves only if the log passes 4,000 pages (16 MB).
    "PRAGMA wal_autocheckpoint=4000;"
)


def env_str(name: str, default: str = "") -> str:
    return os.environ.get(name, "").strip() or default


def env_bool(name: str, default: bool) -> bool:
    value = env_str(name, "on" if default else "off").lower()
    if value in {"1", "on", "true", "yes"}:
        return True
    if value in {"0", "off", "false", "no"}:
        return False
    raise ImproperlyConfigured(f"{name} is {value!r}; use on or off.")


def env_int(name: str, default: int, *, least: int = 0) -> int:
    value = env_str(name, str(default))
    try:
        number = int(value)
    except ValueError as error:
        raise ImproperlyConfigured(f"{name} is {value!r}; use a whole number.") from error
    if number < least:
        raise ImproperlyConfigured(f"{name} is {value!r}; use {least} or more.")
    return number


def env_choice(name: str, choices: Sequence[str]) -> str:
    """Return one of ``choices``; by default the first."""
    value = env_str(name, choices[0])
    if value not in choices:
        raise ImproperlyConfigured(f"{name} is {value!r}; use {', '.join(choices)}.")
    return value


def env_path(name: str) -> Path | None:
    """Return a path that has to be full, because processes of other folders read it."""
    value = env_str(name)
    if not value:
        return None
    path = Path(value).expanduser()
    if not path.is_absolute():
        raise ImproperlyConfigured(f"{name} is {value!r}; use a full path, such as /opt/name.")
    return path


def env_list(name: str, default: str = "") -> list[str]:
    return [item.strip() for item in env_str(name, default).split(",") if item.strip()]


def env_pairs(name: str) -> dict[str, str]:
    """Return pairs such as ``a=1,b=2``; none by default."""
    pairs = {}
    for item in env_list(name):
        key, equals, value = (part.strip() for part in item.partition("="))
        if not (key and equals and value):
            raise ImproperlyConfigured(f"{name} has {item!r}; use pairs such as a=1,b=2.")
        pairs[key] = value
    return pairs


def env_datasets(name: str, default: Path) -> tuple[Path, str]:
    """Return the folder that keeps datasets, and the bucket that does instead, such as
    ``bucket/datasets``, if the value is its address. The folder then has only what is not yet in
    the bucket."""
    value = env_str(name, str(default))
    if not value.startswith("s3://"):
        return Path(value).expanduser().resolve(), ""
    bucket, _, prefix = value.removeprefix("s3://").strip("/").partition("/")
    if not (BUCKET_NAME.fullmatch(bucket) and prefix):
        raise ImproperlyConfigured(f"{name} is {value!r}; use a folder, or s3://bucket/folder.")
    return default, f"{bucket}/{prefix}"


def env_networks(name: str) -> list[str]:
    """Return addresses and networks, such as ``10.0.0.7`` or ``10.0.0.0/8``; none by default."""
    addresses = env_list(name)
    for address in addresses:
        try:
            ip_network(address)
        except ValueError as error:
            raise ImproperlyConfigured(
                f"{name} has {address!r}; use addresses and networks such as 10.0.0.0/8."
            ) from error
    return addresses


def env_database(name: str, default: Path) -> dict[str, Any]:
    """Return Django's settings of a database from its URL, such as
    ``postgresql://user:password@host:port/name`` or ``sqlite:///path``.

    As with psql, ``?host=/folder`` names a socket. The rest of the query, such as
    ``sslmode=require``, goes to the driver.
    """
    url = env_str(name, f"sqlite:///{default}")
    parts = urlsplit(url)
    if parts.scheme == "sqlite":
        return {
            "ENGINE": "django.db.backends.sqlite3",
            "NAME": parts.path.removeprefix("/") if parts.path.startswith("//") else parts.path,
            "OPTIONS": {
                "init_command": SQLITE_PRAGMAS,
                "timeout": 30,  # seconds to wait for the write lock
                # Take the write lock when a transaction begins. Taking it at the first write would
                # fail at once if another transaction had written since the first read.
                "transaction_mode": "IMMEDIATE",
            },
        }
    if parts.scheme in {"postgres", "postgresql"}:
        options = dict(parse_qsl(parts.query))
        return {
            "ENGINE": "django.db.backends.postgresql",
            "NAME": parts.path.lstrip("/"),
            "USER": unquote(parts.username or ""),
            "PASSWORD": unquote(parts.password or ""),
            "HOST": options.pop("host", parts.hostname or ""),
            "PORT": str(parts.port or ""),
            "OPTIONS": options,
        }
    raise ImproperlyConfigured(f"{name} must start with postgresql:// or sqlite:///.")


def secret_keys(home: Path) -> list[str]:
    """Return the secret keys: the first signs and encrypts, and each can verify and decrypt.

    They are ``TRAINYARD_SECRET_KEY``, or else the lines of ``secret_key`` in the data folder, which
    is created on first use, followed by those of ``TRAINYARD_SECRET_KEY_FALLBACKS``.
    """
    path = home / "secret_key"
    if is_key_in_environment():
        keys = [env_str("TRAINYARD_SECRET_KEY")]
    else:
        if not path.exists():
            write_keys(path, [new_key()])
        keys = read_keys(path)
    return [*keys, *env_list("TRAINYARD_SECRET_KEY_FALLBACKS")]


def is_key_in_environment() -> bool:
    """Whether the secret key comes from the environment, which overrides the file."""
    return bool(env_str("TRAINYARD_SECRET_KEY"))


def new_key() -> str:
    return secrets.token_urlsafe(50)


def write_keys(path: Path, keys: list[str]) -> None:
    """Replace the key file atomically: a full disk or a power cut must never leave half a key."""
    draft = path.with_suffix(".new")
    draft.touch(mode=0o600)
    with draft.open("w") as file:
        file.write("".join(f"{key}\n" for key in keys))
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)


def read_keys(path: Path) -> list[str]:
    try:
        keys = [line.strip() for line in path.read_text().splitlines() if line.strip()]
    except UnicodeDecodeError:
        keys = []
    if not keys or any(len(key) < SHORTEST_KEY or not key.isprintable() for key in keys):
        raise ImproperlyConfigured(
            f"{path} is damaged: it contains no key. Put the key of your last backup in its place "
            "(docs/operations.md). Delete the file to start with a new key: then people sign in "
            "again, and kubeconfigs and credentials that were saved have to be entered again."
        )
    return keys
