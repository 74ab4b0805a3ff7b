"""Messages for workloads that reached their time limit or were idle for too long."""

UNITS = (("d", 86_400), ("h", 3600), ("min", 60), ("s", 1))


def format_duration(seconds: int) -> str:
    """``1 h 30 min``, exactly."""
    parts = []
    for name, size in UNITS:
        count, seconds = divmod(seconds, size)
        parts += [f"{count} {name}"] if count else []
    return " ".join(parts) or "0 s"


def time_limit_sentence(seconds: int) -> str:
    return f"It reached its time limit of {format_duration(seconds)}."


def idle_limit_sentence(seconds: int) -> str:
    return f"Nobody used it for {format_duration(seconds)}, its idle limit. Run starts it again."
