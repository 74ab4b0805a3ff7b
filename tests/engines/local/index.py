"""A package index with one package, which is called JupyterLab and is a stand-in for it."""

import os
import zipfile
from pathlib import Path

METADATA = "Metadata-Version: 2.1\nName: jupyterlab\nVersion: 4.9\n"
WHEEL = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
ENTRY = "[console_scripts]\njupyter-lab = stand_in:main\n"
#: The program. It prints its arguments; with ``STAYS`` it serves the folder that it runs in.
PROGRAM = """\
import http.server, os, sys, yaml

def main():
    print("started", *sys.argv[1:], flush=True)
    if "STAYS" in os.environ:
        ports = (it.rpartition("=")[2] for it in sys.argv if it.startswith("--ServerApp.port="))
        served = ("127.0.0.1", int(next(ports)))
        http.server.HTTPServer(served, http.server.SimpleHTTPRequestHandler).serve_forever()
"""


def stand_in(folder: Path) -> Path:
    """Write the index to a folder, and return it."""
    folder.mkdir()
    info = "jupyterlab-4.9.dist-info"
    files = {
        "stand_in.py": PROGRAM,
        f"{info}/METADATA": METADATA,
        f"{info}/WHEEL": WHEEL,
        f"{info}/entry_points.txt": ENTRY,
    }
    files[f"{info}/RECORD"] = "".join(f"{name},,\n" for name in [*files, f"{info}/RECORD"])
    with zipfile.ZipFile(folder / "jupyterlab-4.9-py3-none-any.whl", "w") as wheel:
        for name, text in files.items():
            wheel.writestr(name, text)
    return folder


def only(index: Path) -> dict[str, str]:
    """Return variables with which pip uses this index and no other."""
    return {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(index), "PIP_CONFIG_FILE": os.devnull}
