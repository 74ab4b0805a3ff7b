"""Compares what was sent with what is stored or answered, which has all defaults."""

from typing import Any


def says(whole: Any, given: Any) -> bool:
    """Whether a document has all the values of ``given``. Lists must have equal length and
    order."""
    if isinstance(given, dict) and isinstance(whole, dict):
        return all(key in whole and says(whole[key], value) for key, value in given.items())
    if isinstance(given, list) and isinstance(whole, list):
        return len(whole) == len(given) and all(map(says, whole, given))
    return bool(whole == given)


def has(document: Any, part: Any) -> bool:
    """Whether ``part`` is anywhere in the document: of a dict at least its keys, of a list at least
    its items."""
    if _is_part(document, part):
        return True
    inner = document.values() if isinstance(document, dict) else document
    return isinstance(document, dict | list) and any(has(each, part) for each in inner)


def _is_part(document: Any, part: Any) -> bool:
    if isinstance(part, dict) and isinstance(document, dict):
        return all(key in document and _is_part(document[key], part[key]) for key in part)
    if isinstance(part, list) and isinstance(document, list):
        return all(any(_is_part(each, one) for each in document) for one in part)
    return bool(document == part)
