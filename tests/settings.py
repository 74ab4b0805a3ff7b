"""The product's settings, with a data folder of this test process and nothing of the developer's.

This is a module and not a fixture, because the folder must be set before the settings are read.
With pytest-xdist each process reads it, and so has its own folder and Valkey.
"""

import os
import tempfile
from pathlib import Path

# A short path, because that of a socket has room for about 100 bytes.
TEST_HOME = Path(tempfile.mkdtemp(prefix="trainyard-test-")).resolve()
os.environ["TRAINYARD_HOME"] = str(TEST_HOME)
for name in ("DEBUG", "REDIS_URL", "ALLOWED_HOSTS", "TRAINYARD_ADMIN_PASSWORD", "HTTPS"):
    os.environ.pop(name, None)

from config.settings import *  # noqa: E402, F403 -- only once the folder is set

# One line for each request of a test would bury what failed.
LOGGING["loggers"]["httpx"] = {"level": "WARNING"}  # type: ignore[index]  # noqa: F405

# Slow hashes protect passwords of people; tests need none.
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
WHITENOISE_AUTOREFRESH = WHITENOISE_USE_FINDERS = True
# Tests collect no static files, and nothing complains that the folder is missing.
STATIC_ROOT = None  # type: ignore[assignment]

# Any image has a command on this machine, except in tests about that.
LOCAL_IMAGES = LOCAL_IMAGES | {"*": ["true"]}  # noqa: F405

# A file, as users have it: in memory, threads that share it meet locks that no user meets.
if "sqlite" in DATABASES["default"]["ENGINE"]:  # noqa: F405
    DATABASES["default"].setdefault("TEST", {})["NAME"] = str(HOME / "test.sqlite3")  # noqa: F405
