"""A SQLite database with every migration applied, to copy: applying them takes seconds."""

import fcntl
import hashlib
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

from config.run.install import ROOT

CACHE = ROOT / ".pytest_cache"


def copy_migrated(to: Path) -> None:
    """Copy the database to a file, after creating it if these migrations have none yet."""
    CACHE.mkdir(exist_ok=True)
    found = CACHE / f"migrated-{fingerprint()}.sqlite3"
    with (CACHE / "migrated.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not found.exists():
            for older in CACHE.glob("migrated-*.sqlite3"):
                older.unlink()
            create_migrated(found)
    shutil.copy(found, to)


def fingerprint() -> str:
    """Return a digest of what decides about the tables: our migrations and the locked packages."""
    digest = hashlib.sha256()
    for path in [*sorted(ROOT.glob("*/migrations/*.py")), ROOT / "requirements.txt"]:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def create_migrated(path: Path) -> None:
    """Migrate an empty database of the product, and write it to ``path`` as one file."""
    with tempfile.TemporaryDirectory() as home:
        subprocess.run(
            [sys.executable, "manage.py", "migrate", "--verbosity=0"],
            cwd=ROOT,
            env={
                **os.environ,
                "DJANGO_SETTINGS_MODULE": "config.settings",
                "TRAINYARD_HOME": home,
                "DATABASE_URL": "",
            },
            check=True,
        )
        whole = Path(home) / "whole.sqlite3"
        database = sqlite3.connect(Path(home) / "trainyard.sqlite3")
        database.execute("VACUUM INTO ?", [str(whole)])
        database.close()
        shutil.move(whole, path)
