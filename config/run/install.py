"""Install the packages in the lock files into ``.venv`` and ``node_modules``.

The system's Python runs this script before anything is installed, so it uses the standard library
only. Each step leaves a stamp with the digest of its lock file, so that the next start skips it.
"""

import fcntl
import hashlib
import importlib.util
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

ROOT = Path(__file__).resolve().parent.parent.parent
VENV = ROOT / ".venv"
NODE_MODULES = ROOT / "node_modules"
VENDOR = ROOT / "static" / "vendor"
RUN_LOCK = ROOT / "requirements.txt"
DEV_LOCK = ROOT / "requirements-dev.txt"
NPM_LOCK = ROOT / "package-lock.json"
NPM_DEV = "typescript"  # only there if the packages for tests were installed, too

# The files in packages that pages load: source in node_modules → static/vendor.
VENDOR_FILES = {
    "@tabler/core/dist/css/tabler.min.css": "tabler/tabler.min.css",
    "@tabler/core/dist/js/tabler.min.js": "tabler/tabler.min.js",
    "@xterm/xterm/lib/xterm.mjs": "xterm/xterm.js",
    "@xterm/xterm/css/xterm.css": "xterm/xterm.css",
    "@xterm/addon-fit/lib/addon-fit.mjs": "xterm/addon-fit.js",
    "sortablejs/Sortable.min.js": "sortablejs/Sortable.min.js",
    "swagger-ui-dist/swagger-ui-bundle.js": "swagger-ui/swagger-ui-bundle.js",
    "swagger-ui-dist/swagger-ui.css": "swagger-ui/swagger-ui.css",
    "uplot/dist/uPlot.esm.js": "uplot/uPlot.esm.js",
    "uplot/dist/uPlot.min.css": "uplot/uPlot.min.css",
}

#: The names of the icons that pages use, one a line. Tabler has thousands; a page that loaded them
#: all would show empty boxes until half a megabyte is there.
ICON_NAMES = ROOT / "static" / "icons.txt"
ICON_DRAWINGS = "@tabler/icons/icons/outline"
ICON_STYLES = "tabler-icons/icons.css"
#: How an icon is drawn: its shape is a mask, so it has the color and size of the text beside it.
#: The space without width gives it the baseline of that text.
ICON_RULES = """\
.ti { display: inline-block; line-height: 1; }
.ti::before { content: "\\200b"; display: block; width: 1em; height: 1lh; background: currentcolor;
  mask: var(--icon, linear-gradient(#0000, #0000)) center / contain no-repeat; }
@media (forced-colors: active) {
  .ti::before { forced-color-adjust: none; background: CanvasText; }
}
"""

#: Starts the command line of this checkout, even if its path contains a space.
LAUNCHER = """\
#!/bin/sh
'''exec' "{python}" "$0" "$@"
' '''
import sys

sys.path.insert(0, {root!r})
from trainyard_cli.__main__ import script

script()
"""


class Missing(Exception):
    """A program that only the user can install is missing; the message says how."""


def main(arguments: Sequence[str]) -> int:
    """Install what running needs; with ``--dev`` also what checks and tests need."""
    dev = "--dev" in arguments
    try:
        with install_lock():
            install_python(dev=dev)
            install_command_line()
            install_front_end(dev=dev)
    except Missing as error:
        print(f"\n{error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130  # without a stamp, so the next start continues
    return 0


@contextmanager
def install_lock() -> Iterator[None]:
    """Hold a lock, so that two starts from one checkout install one after the other."""
    with (ROOT / ".install.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def install_python(*, dev: bool) -> None:
    python = VENV / "bin" / "python"
    # That of an environment does not start once the system's Python is removed.
    if not python.exists() or not run_command([python, "-c", ""]):
        create_venv()
    # The second lock file contains all of the first, so it is installed alone.
    locks = [RUN_LOCK, DEV_LOCK] if dev else [RUN_LOCK]
    if all(is_stamped(VENV, lock) for lock in locks):
        return
    say(f"Installing Python packages from {locks[-1].name}")
    if not any(run_command([*installer, "-r", locks[-1]]) for installer in installers(python)):
        raise Missing(
            "The Python packages could not be installed; pip's own message is above.\n"
            "If it tried to build one from source, get a compiler and Python's headers:\n"
            "  Debian, Ubuntu: apt install build-essential python3-dev\n"
            "  macOS:          xcode-select --install\n"
            "A Python newer than the packages know has the same effect; choose another one:\n"
            "  make run PYTHON=python3.12"
        )
    for lock in locks:
        write_stamp(VENV, lock)


def installers(python: Path) -> Iterator[list[str | Path]]:
    """Yield the commands that install packages: uv if there is one, because it is faster, then pip,
    whose configuration may be the only one that names this site's index."""
    if uv := shutil.which("uv"):
        yield [uv, "pip", "install", "--python", python]
    quiet = [] if sys.stdout.isatty() else ["--quiet"]  # progress bars are for terminals
    yield [python, "-m", "pip", "--disable-pip-version-check", "--no-input", "install", *quiet]


def install_command_line() -> None:
    """Install ``.venv/bin/trainyard``, which ``pip install ./trainyard_cli`` installs elsewhere."""
    program = VENV / "bin" / "trainyard"
    text = LAUNCHER.format(python=VENV / "bin" / "python", root=str(ROOT))
    if not program.exists() or program.read_text() != text:
        program.write_text(text)
        program.chmod(0o755)


def run_command(command: Sequence[str | Path]) -> bool:
    """Run a command in the checkout, and return whether it succeeded."""
    return subprocess.run(command, cwd=ROOT, check=False).returncode == 0


def create_venv() -> None:
    if importlib.util.find_spec("venv") is None or importlib.util.find_spec("ensurepip") is None:
        raise Missing(
            "Python's venv module is missing. Get it and start again:\n"
            f"  Debian, Ubuntu: apt install python{sys.version_info[0]}.{sys.version_info[1]}-venv"
        )
    say("Creating the virtual environment .venv")
    if not run_command([sys.executable, "-m", "venv", "--clear", VENV]):
        raise Missing("The virtual environment .venv could not be created; see above.")


def install_front_end(*, dev: bool) -> None:
    lacks_tests = dev and not (NODE_MODULES / NPM_DEV).exists()
    if lacks_tests or not is_stamped(NODE_MODULES, NPM_LOCK):
        run_npm(dev=dev)
        copy_vendor_files()
        write_stamp(NODE_MODULES, NPM_LOCK)
    elif not all((VENDOR / name).exists() for name in VENDOR_FILES.values()) or lacks_icons():
        copy_vendor_files()


def run_npm(*, dev: bool) -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise Missing(
            "npm is missing; the pages' styles and scripts come from it. Get it and start again:\n"
            "  Debian, Ubuntu: apt install npm\n"
            "  macOS:          brew install node\n"
            "  elsewhere:      https://nodejs.org/"
        )
    say("Installing front-end files from package-lock.json")
    options = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    omitted = [] if dev else ["--omit=dev"]
    if not run_command([npm, "ci", *options, *omitted]):
        raise Missing("npm could not install the front-end files; its own message is above.")


def copy_vendor_files() -> None:
    for source, name in VENDOR_FILES.items():
        target = VENDOR / name
        target.parent.mkdir(parents=True, exist_ok=True)
        text = (NODE_MODULES / source).read_bytes()
        if target.suffix in {".js", ".css"}:
            text = without_source_map(text)
        target.write_bytes(text)
    write_icon_styles()


def lacks_icons() -> bool:
    """Return whether the list of icons has changed since their styles were written."""
    styles = VENDOR / ICON_STYLES
    return not styles.exists() or styles.stat().st_mtime < ICON_NAMES.stat().st_mtime


def write_icon_styles() -> None:
    """Write a class for each icon that pages use. The drawings are in the style sheet itself, so
    that no icon appears later than its page."""
    names = ICON_NAMES.read_text().split()
    styles = VENDOR / ICON_STYLES
    styles.parent.mkdir(parents=True, exist_ok=True)
    styles.write_text(ICON_RULES + "".join(icon_rule(name) for name in names))


def icon_rule(name: str) -> str:
    """Return the class of an icon: its drawing in one line, without what a mask does not need."""
    drawing = re.sub(r"\s+", " ", (NODE_MODULES / ICON_DRAWINGS / f"{name}.svg").read_text())
    drawing = re.sub(r' (class|width|height)="[^"]*"', "", drawing)
    drawing = drawing.replace('<path stroke="none" d="M0 0h24v24H0z" fill="none" />', "")
    drawing = re.sub(r" ?> ?<", "><", drawing).replace("currentColor", "#000")
    address = quote(drawing, safe=" =/:'\"").replace('"', "'")
    return f'.ti-{name} {{ --icon: url("data:image/svg+xml,{address}"); }}\n'


def without_source_map(text: bytes) -> bytes:
    """Remove the reference to a source map in the last line. Maps are not copied, and Django's
    static files fail if a reference does not resolve."""
    lines = text.rstrip().split(b"\n")
    if b"sourceMappingURL=" in lines[-1] and lines[-1].startswith((b"//#", b"/*#")):
        lines.pop()
    return b"\n".join(lines) + b"\n"


def is_stamped(folder: Path, lock: Path) -> bool:
    path = stamp_path(folder, lock)
    return path.exists() and path.read_text() == digest(lock)


def write_stamp(folder: Path, lock: Path) -> None:
    stamp_path(folder, lock).write_text(digest(lock))


def stamp_path(folder: Path, lock: Path) -> Path:
    return folder / f".installed-{lock.stem}"


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def say(text: str) -> None:
    print(f"\033[1m== {text}\033[0m" if sys.stdout.isatty() else f"== {text}", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
