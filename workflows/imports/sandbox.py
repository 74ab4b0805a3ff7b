"""Renders one template: a program that reads JSON from its input and writes JSON to its output.

It runs apart from everything else (``templates`` starts it), because a template may loop forever
or ask for all memory. Jinja's sandbox keeps templates from files, programs and the network.
"""

import json
import re
import resource
import signal
import sys
from collections.abc import Iterator
from typing import Any

import jinja2
from jinja2.ext import Extension
from jinja2.lexer import Token, TokenStream
from jinja2.sandbox import SandboxedEnvironment

TEMPLATE = "<template>"
MEMORY = 512 * 1024 * 1024  # bytes of addresses, of which Python and Jinja take a tenth
LINE_MARKS = ("\ue002", "\ue003")


class LineMarks(Extension):
    """Writes its number behind the beginning of each line of the template, so that a line of the
    result can be traced to the line that it comes from, in loops too."""

    def filter_stream(self, stream: TokenStream) -> Iterator[Token]:
        for token in stream:
            if token.type == "data":
                yield Token(token.lineno, token.type, _mark_lines(token.value, token.lineno))
            else:
                yield token


def _mark_lines(text: str, line: int) -> str:
    first, *others = text.split("\n")
    begin, end = LINE_MARKS
    marked = [f"{begin}{number}{end}{part}" for number, part in enumerate(others, line + 1)]
    return "\n".join([first, *marked])


def render_template(template: str, values: dict[str, Any], longest: int) -> dict[str, Any]:
    """Return the ``text``, or an ``error`` with its ``line``."""
    environment = SandboxedEnvironment(
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
        extensions=[LineMarks],
    )
    mark = re.compile("[0-9]+".join(LINE_MARKS))
    parts: list[str] = []
    length = 0
    try:
        for part in environment.from_string(template).generate(values):
            length += len(mark.sub("", part))
            if length > longest:
                return {"error": f"It renders to more than {longest} characters", "line": 0}
            parts.append(part)
    except jinja2.TemplateSyntaxError as error:
        return {"error": explain_syntax(error), "line": error.lineno}
    except jinja2.UndefinedError as error:
        advice = "; give a value in default-values, or with --set NAME=VALUE"
        return {"error": f"{error.message}{advice}", "line": _line_in_template(error)}
    except MemoryError:
        return {"error": "It needs too much memory", "line": 0}
    # A template can fail like any program: 1 / 0, "a" + 1, a loop over a number.
    except Exception as error:
        return {"error": f"It cannot be rendered: {error}", "line": _line_in_template(error)}
    return {"text": "".join(parts)}


def explain_syntax(error: jinja2.TemplateSyntaxError) -> str:
    """Return the message, with advice where a file means something else than a template."""
    message = error.message or "It is not a valid template"
    if "end of comment" in message:
        return f"{message}: {{# begins a comment in a template; write {{{{ '{{#' }}}} to keep it"
    return f"It is not a valid template: {message}"


def _line_in_template(error: BaseException) -> int:
    """Return the innermost line of the template that an error comes from; 0 if there is none."""
    line = 0
    frame = error.__traceback__
    while frame:
        if frame.tb_frame.f_code.co_filename == TEMPLATE:
            line = frame.tb_lineno
        frame = frame.tb_next
    return line


def main() -> None:
    """Limit this process, then render what its input asks for."""
    request = json.load(sys.stdin)
    # After so much time on a processor, in Jinja's code or Python's own, SIGPROF ends the process.
    signal.setitimer(signal.ITIMER_PROF, request["seconds"])
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    answer = render_template(request["template"], request["values"], request["longest"])
    json.dump(answer, sys.stdout)


if __name__ == "__main__":
    main()
