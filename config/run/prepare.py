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

from config.run.console import print_step, say

ADMINISTRATOR = "admin"


def prepare() -> str | None:
    """Collect static files, migrate the database, and create the first administrator and demo data.

    Returns a text about the password if the administrator was created now, else ``None``.
    """
    django.setup()
    collect_static_files()
    return prepare_data()


def prepare_data() -> str | None:
    """Prepare the database only, for images that contain the static files. Not safe to run in
    parallel."""
    print_step("Updating the database")
    call_command("migrate", verbosity=0, interactive=False)
    password = create_first_administrator()
    # The cluster of this machine, the demo project and its assets.
    if "setup" in get_commands():
        call_command("setup")
    connections.close_all()
    return password


def create_first_administrator() -> str | None:
    """Create ``admin`` if there is no administrator yet, and return a text about its password, or
    ``None``. Only the hash of the password is stored."""
    from accounts import access, services

    if access.permitted_users("users.create").exists():
        return None
    chosen = os.environ.get("TRAINYARD_ADMIN_PASSWORD", "")
    password = chosen or secrets.token_urlsafe(12)
    with transaction.atomic():
        services.make_administrator(ADMINISTRATOR, password)
        say(f"First administrator: {ADMINISTRATOR}, {describe_password(password, chosen)}")
    return describe_password(password, chosen)


def describe_password(password: str, given: str) -> str:
    return "password from TRAINYARD_ADMIN_PASSWORD" if given else f"password {password}"


def collect_static_files() -> None:
    """Hash and compress the static files if any has changed since the last time."""
    root = Path(settings.STATIC_ROOT)
    stamp = root.parent / ".static.stamp"
    with file_lock(stamp.with_suffix(".lock")):
        wanted = fingerprint()
        manifest = root / "staticfiles.json"
        if manifest.exists() and stamp.exists() and stamp.read_text() == wanted:
            return
        print_step("Collecting static files")
        call_command("collectstatic", verbosity=0, interactive=False)
        stamp.write_text(wanted)


def fingerprint() -> str:
    """Return a digest of the names, sizes and times of all static files."""
    digest = hashlib.sha256()
    for finder in get_finders():
        for path, storage in finder.list([]):
            status = Path(storage.path(path)).stat()
            digest.update(f"{path} {status.st_size} {status.st_mtime_ns}\n".encode())
    return digest.hexdigest()


@contextmanager
def file_lock(path: Path) -> Iterator[None]:
    """Hold a lock on a file, because two installations may start from one checkout at once."""
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
