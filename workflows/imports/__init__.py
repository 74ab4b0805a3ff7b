"""Reads OSMO's workflow files, of versions 6.0 to 6.4, into graphs. Pure.

``sections`` divides a text, ``templates`` renders it, ``reading`` loads it as the types of ``osmo``
and ``checks`` compares its parts. ``mapping`` makes the graph. Every mistake is a ``LineProblem``
of the file as it was written, inside a ``YamlError``.
"""
