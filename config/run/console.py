"""What the person in front of the terminal reads."""

import sys


def say(text: str) -> None:
    print(text, flush=True)


def step(text: str) -> None:
    """A heading for what takes a moment, in bold where the terminal can."""
    say(f"\033[1m== {text}\033[0m" if sys.stdout.isatty() else f"== {text}")


def frame(lines: list[str]) -> None:
    width = max(len(line) for line in lines) + 4
    say("\n".join(["", "─" * width, *[f"  {line}" for line in lines], "─" * width, ""]))
