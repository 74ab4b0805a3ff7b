"""Finds the Chromium for browser tests. Run as a program, it installs one if there is none."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome")


def executable() -> str | None:
    """Return the path of the machine's Chromium, or else of the one that Playwright installed, or
    ``None``."""
    for name in NAMES:
        if path := shutil.which(name):
            return path
    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).exists() else None


def install() -> None:
    if os.geteuid() == 0 and shutil.which("apt-get"):
        print("Installing Chromium with apt")
        run("apt-get", "update", "-q")
        run("apt-get", "install", "-q", "-y", "--no-install-recommends", "chromium")
    else:
        print("Installing Chromium with Playwright")
        run(sys.executable, "-m", "playwright", "install", "chromium")


def run(*argv: str) -> None:
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run(argv, stdin=subprocess.DEVNULL, env=environment, check=False)


def main() -> int:
    """Install Chromium if there is none. Returns 1, with a hint, if that fails."""
    if executable() is None:
        install()
    if executable() is None:
        print(
            "The browser tests need Chromium, and it could not be installed. Get it by hand:\n"
            "  Debian:  apt install chromium\n"
            "  Ubuntu:  .venv/bin/playwright install --with-deps chromium\n"
            "  macOS:   .venv/bin/playwright install chromium",
            file=sys.stderr,
        )
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
