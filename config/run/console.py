"""Print messages to the person at the terminal."""

import sys


def say(text: str) -> None:
    print(text, flush=True)


def print_step(text: str) -> None:
    """Print a heading before a step that takes a moment, in bold if the terminal supports it."""
    say(f"\033[1m== {text}\033[0m" if sys.stdout.isatty() else f"== {text}")


def print_frame(lines: list[str]) -> None:
    width = max(len(line) for line in lines) + 4
    say("\n".join(["", "─" * width, *[f"  {line}" for line in lines], "─" * width, ""]))
