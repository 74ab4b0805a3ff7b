"""Turn problem messages into sentences."""

import re

ABOUT_THE_FIELD = ("is ", "must ", "has ", "needs ")
PLURAL_VERBS = {
    "is": "are",
    "has": "have",
    "needs": "need",
    "goes": "go",
}  # verbs for a plural subject
HEAD = re.compile(r"^.+?(?= (?:of|per|for|to|in|at)\b|$)")  # the head noun of a label
SINGULAR = ("ss", "us")  # Access, Status


def field_sentence(message: str, subject: str = "", *, more: tuple[str, ...] = ()) -> str:
    """``is required`` becomes ``Name is required.`` or ``Arguments are required.``; a message with
    its own subject keeps it. ``more`` are further beginnings that need a subject."""
    if subject and message.startswith((*ABOUT_THE_FIELD, *more)):
        verb, _, rest = message.partition(" ")
        agreed = PLURAL_VERBS.get(verb, verb) if is_plural(subject) else verb
        message = f"{subject} {agreed} {rest}"
    return f"{message[:1].upper()}{message[1:]}".rstrip(".") + "."


def is_plural(label: str) -> bool:
    """Whether a label is plural: ``Processes per pod`` is, ``Number of workers`` is not."""
    head = HEAD.search(label)
    noun = head[0] if head else label
    return noun.endswith("s") and not noun.endswith(SINGULAR)
