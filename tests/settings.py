"""The product's settings on a data folder of this test process, and nothing of the developer's.

The folder must be named before the settings are read, hence a module and not a fixture. Under
pytest-xdist each process reads this module itself, so each has its own folder and Valkey.
"""

import os
import tempfile
from pathlib import Path

# Short, for a socket's path must fit into about 100 bytes.
TEST_HOME = Path(tempfile.mkdtemp(prefix="trainyard-test-")).resolve()
os.environ["TRAINYARD_HOME"] = str(TEST_HOME)
for name in ("DEBUG", "REDIS_URL", "ALLOWED_HOSTS", "TRAINYARD_ADMIN_PASSWORD", "HTTPS"):
    os.environ.pop(name, None)

from config.settings import *  # noqa: E402, F403 -- only after the folder is named

# A line for each request of a test would push what failed out of sight.
LOGGING["loggers"]["httpx"] = {"level": "WARNING"}  # type: ignore[index]  # noqa: F405

# Hashing a password slowly is for attackers to suffer, not for tests.
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
WHITENOISE_AUTOREFRESH = WHITENOISE_USE_FINDERS = True
# Nothing is collected for tests, and no folder missed for it.
STATIC_ROOT = None  # type: ignore[assignment]

# Whatever image a test names has a command on this machine, unless the test is about that.
LOCAL_IMAGES = LOCAL_IMAGES | {"*": ["true"]}  # noqa: F405

# As users have it, and not in memory, where threads that share it meet locks that no user meets.
if "sqlite" in DATABASES["default"]["ENGINE"]:  # noqa: F405
    DATABASES["default"].setdefault("TEST", {})["NAME"] = str(HOME / "test.sqlite3")  # noqa: F405
