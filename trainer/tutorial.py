"""The flags of the programs in a tutorial on DDP under Slurm, and the environment variables that
they stand for."""

import argparse
from typing import Any
from urllib.parse import urlsplit

BY_ENVIRONMENT = -1  # how the tutorial's programs say that the launcher decides


def add_flags(group: argparse._ArgumentGroup) -> None:
    """Add the tutorial's flags to a group of the parser.

    Those that say which rank this is override the environment variable of the same name.
    """
    group.add_argument("--device", choices=("auto", "cuda", "cpu"), default="auto")
    group.add_argument("--gpu", type=int, help="number of the GPU; else by the local rank")
    for flag, text in {
        "--rank": "of this process; else by the launcher",
        "--world-size": "ranks in all; else by the launcher",
        "--local_rank": "of this process on its machine; else by the launcher",
    }.items():
        dest = f"given_{flag.strip('-').replace('-', '_')}"
        group.add_argument(flag, type=int, dest=dest, default=BY_ENVIRONMENT, help=text)
    group.add_argument(
        "--dist-url", default="env://", help="where rank 0 listens: env:// or tcp://host:port"
    )
    group.add_argument(
        "-j", "--workers", type=int, default=2, help="taken and ignored: samples are in memory"
    )


def take_variables(flags: dict[str, Any]) -> dict[str, str]:
    """Return the environment variables that the flags stand for, and remove those flags from
    ``flags``.

    Raises ``ValueError`` if ``--dist-url`` is neither ``env://`` nor ``tcp://host:port``.
    """
    del flags["workers"]
    numbers = {
        name: flags.pop(f"given_{name.lower()}") for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK")
    }
    chosen = {name: str(number) for name, number in numbers.items() if number != BY_ENVIRONMENT}
    return chosen | _master_variables(flags.pop("dist_url"))


def _master_variables(url: str) -> dict[str, str]:
    """Return the variables for ``--dist-url``; none for ``env://``."""
    if url == "env://":
        return {}
    parts = urlsplit(url)
    if parts.scheme != "tcp" or not parts.hostname or not parts.port:
        raise ValueError(f"argument --dist-url: {url!r} is neither env:// nor tcp://host:port")
    return {"MASTER_ADDR": parts.hostname, "MASTER_PORT": str(parts.port)}
