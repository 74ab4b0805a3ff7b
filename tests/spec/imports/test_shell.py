"""Statements, words and here-documents of a script, without running it."""

from spec.imports.shell import Statement, commands_of, is_shell_script, read_statements


def names(text: str) -> list[str]:
    return [it.name for statement in read_statements(text) for it in commands_of(statement)]


def values(text: str) -> list[str]:
    (statement,) = read_statements(text)
    return [word.value for word in statement.commands[0].words]


def statement(text: str) -> Statement:
    return read_statements(text)[0]


def test_words_have_the_values_that_programs_get() -> None:
    assert values("""a 'b c' "d \\"e\\" \\$f" g\\ h i"j"'k' \\\nl # m""") == [
        *("a", "b c", 'd "e" $f', "g h", "ijk", "l")
    ]


def test_commands_are_found_in_every_place() -> None:
    text = (
        'if a; then b | c; fi && ! d\nx=$(e `f`)\ntime g "$(h)"\nfor i in j; do k; done\nl() { m; }'
    )
    assert names(text) == [*"abcd", "", "e", "f", "g", "h", "k", "l", "m"]


def test_comments_quotes_and_here_documents_have_no_commands() -> None:
    text = "# a\necho '\nb\n' # c\ncat <<-EOF > d\n\te\n\tEOF\ncat << 'X' <<Y\nf\nX\ng\nY\nh"
    assert names(text) == ["echo", "cat", "cat", "h"]
    assert [it.line for it in read_statements(text)] == [2, 5, 8, 13]


def test_open_compound_commands_are_counted() -> None:
    text = "case $a in\n  b) c ;;\nesac\n(d\n)\nwhile e; do\n  f\ndone\ng"
    depths = [(it.line, it.depth) for it in read_statements(text)]
    assert depths == [(1, 0), (2, 1), (3, 1), (4, 0), (5, 1), (6, 0), (7, 1), (8, 1), (9, 0)]


def test_what_does_not_end_is_incomplete() -> None:
    for text in ("echo 'a", 'echo "a', "echo $(a", "echo ${a", "cat <<E\na", "echo )", "a=`b"):
        assert not statement(text).is_complete, text
    for text in ("echo $((1+1))", "echo ${a:-'}'}", "a=(1 2)", "f() { b; }", "echo $(a '(')"):
        assert statement(text).is_complete, text


def test_deeply_nested_substitutions_end() -> None:
    for nested in ('"$(' * 5000, "${" * 5000, "$(" * 5000, "`" * 5000, '"${' * 5000):
        assert read_statements(f"echo {nested}")
        assert len(names(f"echo {nested}")) < 100


def test_shells_are_told_from_other_interpreters() -> None:
    for first in ("#!/bin/bash", "#!/usr/bin/env bash", "#!/bin/sh -e", "#!/bin/bash -l", "echo a"):
        assert is_shell_script(f"{first}\n")
    for first in ("#!/usr/bin/env python3", "#!/usr/bin/python3", "#!/bin/tcsh"):
        assert not is_shell_script(f"{first}\n")
