"""The sign-in: the user, the server, and the project. Its file can be read by its owner only."""

import json
import os
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from trainyard_cli.errors import CliError, ExitCode

DEFAULT_SERVER = "http://127.0.0.1:8000"
#: Field → environment variable, for machines where nobody signs in. Variables override the file.
VARIABLES = {
    "server": "TRAINYARD_SERVER",
    "client_id": "TRAINYARD_CLIENT_ID",
    "client_secret": "TRAINYARD_CLIENT_SECRET",
}
KEY_VARIABLES = (VARIABLES["client_id"], VARIABLES["client_secret"])


@dataclass
class Profile:
    """A sign-in. ``token`` is valid until ``expires``, in seconds since 1970; after that, the
    access key (``client_id``, ``client_secret``) gets the next one. ``project`` has ``id``,
    ``name`` and ``clusterId`` of the project that is set, or is empty."""

    path: Path
    server: str = ""
    user: str = ""
    key_id: str = ""
    client_id: str = ""
    client_secret: str = ""
    token: str = ""
    expires: float = 0.0
    project: dict[str, str] = field(default_factory=dict)
    from_environment: bool = False

    @property
    def is_signed_in(self) -> bool:
        """Whether it has a server and an access key."""
        return bool(self.server and self.client_id and self.client_secret)

    def save(self) -> None:
        """Replace the file, by a rename once the new one is complete."""
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = self.path.with_name(f"{self.path.name}.{os.getpid()}")
        values = {key: value for key, value in asdict(self).items() if key in _stored_fields()}
        if self.from_environment:  # values from the environment are not stored
            values |= dict.fromkeys((*VARIABLES, "token"), "") | {"expires": 0.0}
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "w") as file:
            json.dump(values, file, indent=2)
        draft.replace(self.path)


def _stored_fields() -> set[str]:
    return {it.name for it in fields(Profile)} - {"path", "from_environment"}


def default_path() -> Path:
    """Return the path of the file: ``TRAINYARD_CONFIG``, or else in the user's folder of
    settings."""
    if path := os.environ.get("TRAINYARD_CONFIG"):
        return Path(path).expanduser()
    home = os.environ.get("XDG_CONFIG_HOME") or "~/.config"
    return Path(home).expanduser() / "trainyard" / "config.json"


def load(path: Path) -> Profile:
    """Read the profile in a file. Values in the environment override it. A missing file gives an
    empty profile.

    Raises ``CliError`` if the file cannot be read.
    """
    values = _read(path)
    overrides = {key: os.environ[name] for key, name in VARIABLES.items() if os.environ.get(name)}
    profile = Profile(path, **{key: values[key] for key in _stored_fields() & values.keys()})
    is_elsewhere = overrides.get("server", profile.server).rstrip("/") != profile.server.rstrip("/")
    if is_elsewhere:  # the key of one server is never sent to another
        profile = Profile(path, project=profile.project if "client_id" in overrides else {})
    if "client_id" in overrides and overrides["client_id"] != profile.client_id:
        profile.token = ""
        profile.expires = 0.0
        profile.from_environment = True
        profile.user = ""
    for key, value in overrides.items():
        setattr(profile, key, value)
    profile.server = profile.server.rstrip("/")
    return profile


def _read(path: Path) -> dict[str, Any]:
    try:
        values = json.loads(path.read_text())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise CliError(
            f"{path} cannot be read: {error}",
            "Remove it and sign in again: trainyard login",
            code=ExitCode.SIGNED_OUT,
        ) from error
    return values if isinstance(values, dict) else {}
