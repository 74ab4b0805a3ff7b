"""Reads and writes lists of nodes as Slurm does, such as ``n[1-3,07],login``. Pure."""

import re
from collections.abc import Iterable, Iterator

RANGE = "[0-9]{1,9}(?:-[0-9]{1,9})?"
BRACKETS = re.compile(rf"^(.*?)\[({RANGE}(?:,{RANGE})*)\](.*)$")
MOST_NAMES = 64 * 1024  # of one range, as in Slurm
NUMBERED = re.compile(r"^(.*?)([0-9]+)$")


def expand_hostlist(text: str) -> list[str]:
    """Return the names in a list."""
    return [name for item in _split_items(text) for name in _expand_item(item)]


def _split_items(text: str) -> Iterator[str]:
    """Yield what stands between the commas outside of brackets."""
    item = ""
    depth = 0
    for character in text:
        depth += (character == "[") - (character == "]")
        if character == "," and not depth:
            yield item
            item = ""
        else:
            item += character
    if item:
        yield item


def _expand_item(item: str) -> Iterator[str]:
    match = BRACKETS.match(item)
    if match is None:
        yield item
        return
    head, ranges, tail = match.groups()
    for part in ranges.split(","):
        first, _, last = part.partition("-")
        numbers = range(int(first), int(last or first) + 1)
        for number in numbers[:MOST_NAMES]:
            yield from _expand_item(f"{head}{number:0{len(first)}}{tail}")


def compress_hostlist(names: Iterable[str]) -> str:
    """Return the list of these names. Neighbors that differ in their last number share
    brackets."""
    groups: list[tuple[str, list[str]]] = []
    for name in names:
        match = NUMBERED.match(name)
        head = match[1] if match else name
        number = match[2] if match else ""
        if groups and match and groups[-1][0] == head and groups[-1][1] != [""]:
            groups[-1][1].append(number)
        else:
            groups.append((head, [number]))
    return ",".join(_compress_group(head, numbers) for head, numbers in groups)


def _compress_group(head: str, numbers: list[str]) -> str:
    if len(numbers) == 1:
        return f"{head}{numbers[0]}"
    ranges: list[list[str]] = []
    for number in numbers:
        last = ranges[-1][-1] if ranges else ""
        is_padded = number.startswith("0") and len(last) != len(number)
        if last and not is_padded and int(number) == int(last) + 1:
            ranges[-1][1:] = [number]
        else:
            ranges.append([number])
    return f"{head}[{','.join('-'.join(part) for part in ranges)}]"


def compress_counts(counts: Iterable[int]) -> str:
    """Return numbers as Slurm writes the tasks of each node: ``2(x3),1``."""
    runs: list[list[int]] = []
    for count in counts:
        if runs and runs[-1][0] == count:
            runs[-1][1] += 1
        else:
            runs.append([count, 1])
    return ",".join(str(count) if times == 1 else f"{count}(x{times})" for count, times in runs)
