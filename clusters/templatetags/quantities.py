"""Amounts of what clusters give: memory, cores, GPUs."""

from django import template

from spec.values import quantities

register = template.Library()


@register.filter
def memory(size: float | None) -> str:
    """Bytes as ``1.5 GB``."""
    return "–" if size is None else quantities.format_bytes(size)


@register.filter
def amount(value: float | None) -> str:
    """A number without needless zeros: ``2``, ``0.1``."""
    return "–" if value is None else f"{round(value, 3):g}"


@register.filter
def cores(value: float | None) -> str:
    """``0.1 cores``, ``1 core``."""
    return "–" if value is None else f"{amount(value)} core{'' if value == 1 else 's'}"


@register.filter
def gpus(value: float | None) -> str:
    """``0.3 GPUs``, ``1 GPU``; none is a dash."""
    return f"{amount(value)} GPU{'' if value == 1 else 's'}" if value else "–"
