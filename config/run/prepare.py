"""Prepare the installation before its processes start. Running it again changes nothing."""

import fcntl
import hashlib
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import django
from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command, get_commands
from django.db import connections, transaction

from config.run.console import say, step

ADMINISTRATOR = "admin"


def prepare() -> str | None:
    """Collect static files, migrate the database, and create the first administrator and demo data.

    Returns what to print about the administrator's password if it was created now, else ``None``.
    """
    django.setup()
    collect_static_files()
    return prepare_data()


def prepare_data() -> str | None:
    """Prepare the database only, for images that contain the static files. Not safe to run in
    parallel."""
    step("Updating the database")
    call_command("migrate", verbosity=0, interactive=False)
    password = make_first_administrator()
    # The cluster of this machine, the demo project and its assets.
    if "setup" in get_commands():
        call_command("setup")
    connections.close_all()
    return password


def make_first_administrator() -> str | None:
    """Create ``admin`` if there is no administrator yet; returns what to print about its password,
    or ``None``. The password itself is not stored, only its hash."""
    from accounts import access, services

    if access.permitted_users("users.create").exists():
        return None
    given = os.environ.get("TRAINYARD_ADMIN_PASSWORD", "")
    password = given or secrets.token_urlsafe(12)
    with transaction.atomic():
        services.make_administrator(ADMINISTRATOR, password)
        say(f"First administrator: {ADMINISTRATOR}, {shown(password, given)}")
    return shown(password, given)


def shown(password: str, given: str) -> str:
    return "password from TRAINYARD_ADMIN_PASSWORD" if given else f"password {password}"


def collect_static_files() -> None:
    """Hash and compress the static files if any has changed since the last time."""
    root = Path(settings.STATIC_ROOT)
    stamp = root.parent / ".static.stamp"
    with exclusive(stamp.with_suffix(".lock")):
        wanted = fingerprint()
        manifest = root / "staticfiles.json"
        if manifest.exists() and stamp.exists() and stamp.read_text() == wanted:
            return
        step("Collecting static files")
        call_command("collectstatic", verbosity=0, interactive=False)
        stamp.write_text(wanted)


def fingerprint() -> str:
    """One digest over the names, sizes and times of all static files."""
    digest = hashlib.sha256()
    for finder in get_finders():
        for path, storage in finder.list([]):
            status = Path(storage.path(path)).stat()
            digest.update(f"{path} {status.st_size} {status.st_mtime_ns}\n".encode())
    return digest.hexdigest()


@contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """Hold a file lock: two installations may start from one checkout at the same moment."""
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
