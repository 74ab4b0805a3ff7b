"""Reading settings from the environment, with messages that name the variable."""

import os
import secrets
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

SQLITE_PRAGMAS = "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA cache_size=-32000;"


def env_str(name: str, default: str = "") -> str:
    return os.environ.get(name, "").strip() or default


def env_bool(name: str, default: bool) -> bool:
    value = env_str(name, "on" if default else "off").lower()
    if value in {"1", "on", "true", "yes"}:
        return True
    if value in {"0", "off", "false", "no"}:
        return False
    raise ImproperlyConfigured(f"{name} is {value!r}; use on or off.")


def env_int(name: str, default: int) -> int:
    value = env_str(name, str(default))
    try:
        return int(value)
    except ValueError as error:
        raise ImproperlyConfigured(f"{name} is {value!r}; use a whole number.") from error


def env_list(name: str, default: str = "") -> list[str]:
    return [item.strip() for item in env_str(name, default).split(",") if item.strip()]


def env_database(name: str, default: Path) -> dict[str, Any]:
    """A Django database from a URL: ``postgresql://user:password@host:port/name`` or
    ``sqlite:///path``. As with psql, ``?host=/folder`` names a socket; the rest of the query,
    such as ``sslmode=require``, goes to the driver."""
    url = env_str(name, f"sqlite:///{default}")
    parts = urlsplit(url)
    if parts.scheme == "sqlite":
        return {
            "ENGINE": "django.db.backends.sqlite3",
            "NAME": parts.path.removeprefix("/") if parts.path.startswith("//") else parts.path,
            "OPTIONS": {
                "init_command": SQLITE_PRAGMAS,
                "transaction_mode": "IMMEDIATE",
                "timeout": 30,
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


def secret_key(home: Path) -> str:
    """``TRAINYARD_SECRET_KEY``, or one made on first use and kept in the data folder."""
    if given := env_str("TRAINYARD_SECRET_KEY"):
        return given
    path = home / "secret_key"
    if not path.exists():
        path.touch(mode=0o600)
        path.write_text(secrets.token_urlsafe(50))
    return path.read_text().strip()
