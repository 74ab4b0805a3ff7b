"""Problems as sentences."""

ABOUT_THE_FIELD = ("is ", "must ", "has ", "needs ")


def sentence(message: str, subject: str = "", *, more: tuple[str, ...] = ()) -> str:
    """``is required`` as ``Name is required.``; a message with its own subject keeps it. ``more``
    are other beginnings that want a subject."""
    if subject and message.startswith((*ABOUT_THE_FIELD, *more)):
        message = f"{subject} {message}"
    return f"{message[:1].upper()}{message[1:]}".rstrip(".") + "."
