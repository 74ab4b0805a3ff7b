"""The tutorial's scripts as its readers change them, and what a cluster has where it was followed:
programs, and a home folder with conda."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from config.run.install import ROOT
from engines.slurm.client import files
from engines.slurm.client.transport import Transport
from tests.spec import imports

PROGRAMS = ("CIFAR10", "synthetic")
TUTORIAL = (Path(imports.__file__).parent / "tutorial.sh").read_text()
SETTLED = {
    "--nodes=3": "--nodes=2",
    "--ntasks-per-node=8": "--ntasks-per-node=1",
    "--gres=gpu:8": "--gres=gpu:1",
    "=12": "=4",  # a whole node, because two jobs cannot use the script's port on one
    "1792G": "1G",
    "WORLD_SIZE=24": "WORLD_SIZE=2",
    "[YOUR_CONDA_ENV]": "ddp",
}
PREPARE = r"""
mkdir -p "$1/example" && cd "$1/example" || exit 1
write() { # $1 program, $2 the trainer's name for it, $3 epochs: as many as its loss takes to fall
  echo "import runpy, sys
sys.argv = ['trainer', '$2', '--epochs', '$3', '--log-interval', '4']
runpy.run_module('trainer', run_name='__main__')" > "train_ddp_test_$1.py"
}
write CIFAR10 cifar10 1
write synthetic synthetic 3
[ ! -e ~/.bashrc ] || cp ~/.bashrc "$1/bashrc"
printf 'conda() { echo "conda $*"; }\nexport PATH=%s:$PATH PYTHONPATH=%s\n' "$2" "$3" > ~/.bashrc
"""
RESTORE = '[ -e "$1/bashrc" ] && mv "$1/bashrc" ~/.bashrc || rm -f ~/.bashrc'


def settled(program: str, place: str) -> str:
    """Return the tutorial's script as its reader changes it."""
    text = TUTORIAL.replace("CIFAR10", program).replace("[PATH_TO_THE_MAIN_FOLDER]", place)
    for old, new in SETTLED.items():
        text = text.replace(old, new)
    return text


@contextmanager
def followed(transport: Transport, directory: str) -> Iterator[str]:
    """Create the tutorial's programs and conda, and yield the folder of the programs. The home
    folder is restored after the block."""
    files.output_of(files.run_program(transport, PREPARE, *_words(directory)), "no example")
    try:
        yield f"{directory}/example"
    finally:
        files.run_program(transport, RESTORE, directory)


def follow_here(directory: Path) -> str:
    """Create the same on this machine, with a home folder of its own, and return the folder of the
    programs. The home folder is ``home`` in the directory."""
    home = directory / "home"
    home.mkdir()
    words = ["bash", "-c", PREPARE, "prepare", *_words(str(directory))]
    subprocess.run(words, env={**os.environ, "HOME": str(home)}, check=True)
    return f"{directory}/example"


def _words(directory: str) -> tuple[str, str, str]:
    return directory, str(Path(sys.executable).parent), str(ROOT)
