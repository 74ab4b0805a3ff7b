"""The options of ``manage.py add_cluster`` for a Slurm cluster."""

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from clusters.kinds.slurm.settings import SlurmSecret

#: Settings whose values are the texts of their options.
TEXT_OPTIONS = {
    "host": ("--login-node", "HOST", "empty where Slurm's commands run on this host"),
    "user": ("--login-user", "USER", "as whom Trainyard signs in"),
    "port": ("--ssh-port", "PORT", "default 22"),
    "directory": ("--directory", "PATH", "shared by the login node and all nodes"),
    "account": ("--account", "NAME", "empty for the user's default"),
    "partition": ("--partition", "NAME", "empty for Slurm's default"),
    "run_as": ("--run-as", "people", "jobs run under people's own names, by their own keys"),
    "containers": ("--containers", "NAME", "pyxis, apptainer, singularity or none; else as found"),
    "programs": ("--programs", "FOLDER", "where sbatch is, if not found without"),
    "slurm_conf": ("--slurm-conf", "FILE", "where slurm.conf is, if not at its usual place"),
}
#: Settings whose values are read from files.
FILE_OPTIONS = {
    "known_hosts": ("--known-hosts", "what ssh-keyscan prints for the login node"),
    "accounts": ("--accounts", "a project and its account on each line, where they have their own"),
    "users": ("--users", "a user of Trainyard and one of the cluster on each line, with people"),
    "prologue": ("--prologue", "lines of shell that each rank runs before its command"),
}


def add_arguments(parser: argparse._ArgumentGroup) -> None:
    for name, (option, metavar, text) in TEXT_OPTIONS.items():
        parser.add_argument(option, dest=name, metavar=metavar, default="", help=text)
    for name, (option, text) in FILE_OPTIONS.items():
        parser.add_argument(option, dest=name, type=Path, metavar="FILE", help=text)
    parser.add_argument(
        "--private-key", type=Path, metavar="FILE", help="of the user; kept encrypted"
    )


def read_options(options: Mapping[str, Any]) -> tuple[dict[str, Any], SlurmSecret]:
    settings = {name: options[name] for name in TEXT_OPTIONS}
    settings |= {name: _file_text(options[name]) for name in FILE_OPTIONS}
    if not settings["directory"]:
        raise CommandError("Pass --directory PATH, which the login node and all nodes share.")
    return settings, SlurmSecret(private_key=_file_text(options["private_key"]))


def _file_text(path: Path | None) -> str:
    try:
        return path.read_text().strip() if path else ""
    except OSError as error:
        raise CommandError(f"{path} cannot be read: {error}") from error
