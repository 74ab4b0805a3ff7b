"""Filters for amounts of memory, cores and GPUs."""

from django import template

from spec.values import quantities

register = template.Library()


@register.filter
def memory(size: float | None) -> str:
    """Write bytes, such as ``1.5 GB``; ``None`` is a dash."""
    return "–" if size is None else quantities.format_bytes(size)


@register.filter
def amount(value: float | None) -> str:
    """Write a number without needless zeros, such as ``2`` or ``0.1``; ``None`` is a dash."""
    return "–" if value is None else f"{round(value, 3):g}"


@register.filter
def cores(value: float | None) -> str:
    """Write CPU cores, such as ``0.1 cores`` or ``1 core``; ``None`` is a dash."""
    return "–" if value is None else f"{amount(value)} core{'' if value == 1 else 's'}"


@register.filter
def gpus(value: float | None) -> str:
    """Write GPUs, such as ``0.3 GPUs`` or ``1 GPU``; zero and ``None`` are dashes."""
    return f"{amount(value)} GPU{'' if value == 1 else 's'}" if value else "–"
