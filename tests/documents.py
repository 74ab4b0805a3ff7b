"""Comparing what was given with what is stored or answered, which is whole."""

from typing import Any


def says(whole: Any, given: Any) -> bool:
    """Whether a whole document says what was given, list items in their order."""
    if isinstance(given, dict) and isinstance(whole, dict):
        return all(key in whole and says(whole[key], value) for key, value in given.items())
    if isinstance(given, list) and isinstance(whole, list):
        return len(whole) == len(given) and all(map(says, whole, given))
    return bool(whole == given)
