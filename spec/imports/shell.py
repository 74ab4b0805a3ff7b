"""Splits a shell script into statements and their words, without running anything. Pure.

It finds where statements, quotes, substitutions and here-documents begin and end. What it cannot
read with certainty is marked as incomplete, and left to a shell.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

#: Long ones first.
OPERATORS = (
    *("&>>", "<<-", "<<<", ";;&", ";;", ";&", "&&", "||", "|&", "<<", ">>", "<&", ">&", "&>"),
    *("<>", ">|", ";", "&", "|", "(", ")", "<", ">"),
)
#: Operators after which a command goes on in the next line.
CONTINUED = {"&&", "||", "|", "|&"}
DESCRIPTOR = re.compile(r"[0-9]+(?=[<>])", re.ASCII)
REDIRECTIONS = {"<", ">", ">>", "<&", ">&", "&>", "&>>", "<>", ">|", "<<<", "<<", "<<-"}
#: Unquoted characters that may expand: patterns, braces, and ~ where it is a home folder.
PATTERN = re.compile(r"[*?\[{]|^~|[=:]~")
ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)\+?=", re.ASCII)
#: Words that begin and end compound commands.
PAIRS = {
    **{"if": "fi", "while": "done", "until": "done", "for": "done", "select": "done"},
    **{"case": "esac", "{": "}", "(": ")"},
}
#: Words before a command that leave it what it is.
PREFIXES = {"time", "!"}
#: Words after which a name or words follow, and no command.
HEADERS = {"for", "case", "select", "function"}
RESERVED = {
    *(PAIRS.keys() | PAIRS.values()),
    *("then", "elif", "else", "do", "coproc", "function"),
    *PREFIXES,
} - {"(", ")"}
MOST_NESTING = 50  # substitutions inside one another
#: Shells whose scripts this module can read.
SHELLS = {"sh", "bash", "dash", "ksh", "zsh"}


@dataclass(frozen=True)
class Word:
    """A word. ``text`` is what is written, ``code`` the part of it outside quotes, and ``value``
    what a program gets, unless the word ``expands``: then only a shell knows. ``inner`` are the
    commands in its substitutions."""

    line: int
    text: str
    code: str
    value: str
    expands: bool
    inner: tuple[str, ...]


@dataclass
class Command:
    """A simple command: its words, without redirections and what stands before it."""

    line: int
    assignments: list[Word] = field(default_factory=list)
    words: list[Word] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The program or builtin; empty if there are only assignments."""
        return self.words[0].value if self.words else ""


@dataclass
class Statement:
    """One line of commands, or several if a word or ``\\`` continues it. In ``text``, lines that
    ``\\`` continues are joined. ``depth`` and ``depth_after`` are the numbers of open
    compound commands before and after it. ``has_line_end`` tells of any other line end in it."""

    line: int
    text: str
    depth: int = 0
    depth_after: int = 0
    operators: list[str] = field(default_factory=list)
    commands: list[Command] = field(default_factory=list)
    reserved: list[str] = field(default_factory=list)
    is_complete: bool = True
    has_line_end: bool = False
    here_document_lines: list[int] = field(default_factory=list)

    @property
    def words(self) -> Iterator[Word]:
        for command in self.commands:
            yield from command.assignments
            yield from command.words

    @property
    def is_simple(self) -> bool:
        """Whether it is one command, without operators, redirections and reserved words."""
        return len(self.commands) == 1 and not self.operators and not self.reserved


def is_shell_script(text: str) -> bool:
    """Whether the interpreter is a shell, or there is no line that names one."""
    first = text.partition("\n")[0]
    if not first.startswith("#!"):
        return True
    names = [word.rpartition("/")[2] for word in first[2:].split()]
    return any(name in SHELLS for name in names[:3])


def read_statements(text: str) -> list[Statement]:
    """Return the statements of a script."""
    return _Scanner(text).statements()


def commands_of(statement: Statement, levels: int = 5) -> Iterator[Command]:
    """Yield the commands of a statement, and those of the substitutions in its words, down to a
    number of levels."""
    yield from statement.commands
    inner_texts = [(word.line, text) for word in statement.words for text in word.inner]
    for line, text in inner_texts if levels else ():
        for inner in read_statements(text):
            for command in commands_of(inner, levels - 1):
                yield Command(line, command.assignments, command.words)


@dataclass(frozen=True)
class _HereDocument:
    end: str
    strips_tabs: bool


@dataclass
class _WordParts:
    """What was read of a word so far."""

    code: str = ""
    value: str = ""
    expands: bool = False
    inner: list[str] = field(default_factory=list)


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self.line = 1
        self.open: list[str] = []  # the words that end the open compound commands
        self.nesting = 0
        self.here_documents: list[_HereDocument] = []

    def statements(self) -> list[Statement]:
        found = []
        while self.position < len(self.text):
            statement = self._statement()
            if statement.commands or statement.reserved or statement.operators:
                found.append(statement)
        return found

    def _statement(self) -> Statement:
        """Read up to a line end that is no part of a word, and here-documents after it."""
        self._skip_blanks()
        start = self.position
        statement = Statement(self.line, "", len(self.open))
        items: list[Word | str] = []
        end = start
        while self.position < len(self.text):
            if self.text[self.position] == "#":
                self._skip_comment()
                continue
            if self.text[self.position] == "\n":
                if not items or items[-1] not in CONTINUED:
                    break
                statement.has_line_end = True
                self._advance(1)
                self._skip_blanks()
                continue
            operator = self._operator()
            if operator:
                items.append(operator)
            else:
                items.append(self._word(statement))
            end = self.position
            self._skip_blanks()
        statement.text = self.text[start:end].replace("\\\n", "")
        self._sort_items(statement, items)
        statement.depth_after = len(self.open)
        if self.position < len(self.text):
            self._advance(1)  # the line end
        self._skip_here_documents(statement)
        return statement

    def _skip_blanks(self) -> None:
        while self.position < len(self.text):
            if self.text[self.position] in " \t":
                self._advance(1)
            elif self.text.startswith("\\\n", self.position):
                self._advance(2)
            else:
                return

    def _skip_comment(self) -> None:
        end = self.text.find("\n", self.position)
        self.position = len(self.text) if end < 0 else end

    def _advance(self, count: int) -> str:
        """Move on, and return what was passed."""
        passed = self.text[self.position : self.position + count]
        self.line += passed.count("\n")
        self.position += len(passed)
        return passed

    def _operator(self) -> str:
        """Read an operator, with the number of a file descriptor before it; empty if there is
        none."""
        descriptor = DESCRIPTOR.match(self.text, self.position)
        start = descriptor.end() if descriptor else self.position
        if self.text.startswith(("<(", ">("), start):
            return ""
        for operator in OPERATORS:
            if self.text.startswith(operator, start):
                self._advance(start - self.position + len(operator))
                return operator
        return ""

    def _word(self, statement: Statement) -> Word:
        line = self.line
        start = self.position
        word = _WordParts()
        while self.position < len(self.text):
            character = self.text[self.position]
            if self.text.startswith(("<(", ">("), self.position):
                word.expands = True
                self._advance(2)
                word.inner.append(self._until_parenthesis(statement))
            elif character in " \t\n;&|()<>":
                break
            elif self.text.startswith("\\\n", self.position):
                self._advance(2)
            elif character == "\\":
                word.value += self._advance(2)[1:]
            elif self.text.startswith("$'", self.position):
                word.expands = True
                self._advance(1)
                self._until_quote(statement, "'", escapes=True)
            elif character in "'\"$`":
                line_before = self.line
                self._quoted_part(statement, word)
                statement.has_line_end = statement.has_line_end or self.line > line_before
            else:
                word.code += character
                word.value += self._advance(1)
        text = self.text[start : self.position].replace("\\\n", "")
        expands = word.expands or bool(PATTERN.search(word.code))
        return Word(line, text, word.code, word.value, expands, tuple(word.inner))

    def _quoted_part(self, statement: Statement, word: "_WordParts") -> None:
        character = self.text[self.position]
        if character == "'":
            word.value += self._until_quote(statement, "'")
        elif character == '"':
            self._double_quoted(statement, word)
        else:
            word.expands = True
            word.inner += self._expansion(statement)

    def _until_quote(self, statement: Statement, quote: str, *, escapes: bool = False) -> str:
        """Skip a string in quotes, and return what is in it."""
        self._advance(1)
        start = self.position
        while self.position < len(self.text):
            character = self._advance(1)
            if character == "\\" and escapes:
                self._advance(1)
            elif character == quote:
                return self.text[start : self.position - 1]
        statement.is_complete = False
        return ""

    def _double_quoted(self, statement: Statement, word: "_WordParts") -> None:
        """Skip a string in double quotes."""
        self._advance(1)
        while self.position < len(self.text):
            character = self.text[self.position]
            following = self.text[self.position + 1 : self.position + 2]
            if character == '"':
                self._advance(1)
                return
            if character == "\\":
                passed = self._advance(2)
                word.value += passed[1:].rstrip("\n") if following in '$`"\\\n' else passed
            elif character in "$`":
                word.expands = True
                word.inner += self._expansion(statement)
            else:
                word.value += self._advance(1)
        statement.is_complete = False

    def _expansion(self, statement: Statement) -> list[str]:
        """Skip ``$name``, ``${…}``, ``$(…)`` or backquotes. Return the commands in it."""
        if self.nesting == MOST_NESTING:
            statement.is_complete = False
            self.position = len(self.text)
            return []
        self.nesting += 1
        inner = self._expansion_inside(statement)
        self.nesting -= 1
        return inner

    def _expansion_inside(self, statement: Statement) -> list[str]:
        if self.text[self.position] == "`":
            start = self.position + 1
            self._until_quote(statement, "`", escapes=True)
            return [self.text[start : self.position - 1]]
        self._advance(1)
        if self.text.startswith("((", self.position):
            self._advance(1)
            self._until_parenthesis(statement)
            return []
        if self.text.startswith("(", self.position):
            self._advance(1)
            return [self._until_parenthesis(statement)]
        if self.text.startswith("{", self.position):
            return self._until_brace(statement)
        return []

    def _until_parenthesis(self, statement: Statement) -> str:
        """Skip to the parenthesis that ends a substitution. Return what is in it."""
        start = self.position
        depth = 1
        while self.position < len(self.text):
            character = self.text[self.position]
            if character == "'":
                self._until_quote(statement, "'")
            elif character == '"':
                self._double_quoted(statement, _WordParts())
            elif character == "\\":
                self._advance(2)
            elif character == "#" and self.text[self.position - 1] in " \t\n(;":
                self._skip_comment()
            else:
                self._advance(1)
                depth += (character == "(") - (character == ")")
            if depth == 0:
                return self.text[start : self.position - 1]
        statement.is_complete = False
        return ""

    def _until_brace(self, statement: Statement) -> list[str]:
        """Skip ``{…}`` of a variable. Return the commands in it."""
        inner: list[str] = []
        self._advance(1)
        while self.position < len(self.text):
            character = self.text[self.position]
            if character == "}":
                self._advance(1)
                return inner
            if character == "'":
                self._until_quote(statement, "'")
            elif character == '"':
                part = _WordParts()
                self._double_quoted(statement, part)
                inner += part.inner
            elif character == "\\":
                self._advance(2)
            elif character in "$`":
                inner += self._expansion(statement)
            else:
                self._advance(1)
        statement.is_complete = False
        return inner

    def _skip_here_documents(self, statement: Statement) -> None:
        for document in self.here_documents:
            while True:
                if self.position >= len(self.text):
                    statement.is_complete = False
                    break
                end = self.text.find("\n", self.position)
                end = len(self.text) if end < 0 else end
                line = self.text[self.position : end]
                statement.here_document_lines.append(self.line)
                self._advance(end - self.position + 1)
                if (line.lstrip("\t") if document.strips_tabs else line) == document.end:
                    break
        self.here_documents = []

    def _sort_items(self, statement: Statement, items: Sequence[Word | str]) -> None:
        """Sort words and operators into commands, and follow which compound commands are open."""
        command: Command | None = None
        redirection = ""
        is_header = False
        for item in items:
            if isinstance(item, str):
                statement.operators.append(item)
                if item in REDIRECTIONS:
                    redirection = item
                    continue
                self._follow(statement, item)
                command = None
                is_header = False
            elif redirection:
                if redirection in {"<<", "<<-"}:
                    end = re.sub(r"[\\'\"]", "", item.text)
                    self.here_documents.append(_HereDocument(end, redirection == "<<-"))
                redirection = ""
            elif command is None and not is_header and item.text in RESERVED:
                statement.reserved.append(item.text)
                self._follow(statement, item.text)
                is_header = item.text in HEADERS
            elif not is_header:
                if command is None:
                    command = Command(item.line)
                    statement.commands.append(command)
                is_assignment = not command.words and ASSIGNMENT.match(item.code)
                (command.assignments if is_assignment else command.words).append(item)

    def _follow(self, statement: Statement, text: str) -> None:
        """Follow the beginning or end of a compound command. In ``case`` each pattern ends with a
        parenthesis."""
        if text in PAIRS:
            self.open.append(PAIRS[text])
        elif self.open and text == self.open[-1]:
            self.open.pop()
        elif text in PAIRS.values() and not (text == ")" and self.open[-1:] == ["esac"]):
            statement.is_complete = False
