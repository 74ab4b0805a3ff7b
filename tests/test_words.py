"""What people read is in the words of docs/words.md: no text has a phrase of its middle column."""

import re

from tests.texts import WORDS, Text, read, texts

ROW = re.compile(r"^\| (?P<say>[^|]+) \| (?P<avoid>[^|]+) \| ?(?P<why>[^|]*)\|$", re.M)
TABLE = [match for match in ROW.finditer(read(WORDS)) if match["say"] != "say"]


def test_texts_use_the_words_of_the_list() -> None:
    phrases = {phrase: row["say"] for row in TABLE for phrase in row["avoid"].split(", ")}
    wrong = [line for text in texts() for line in slips(text, phrases)]
    assert not wrong, "\n".join(["say it as docs/words.md does:", *wrong])


def test_texts_have_the_apostrophe_that_keyboards_have() -> None:
    assert not [str(text.path) for text in texts() if "\u2019" in text.words]


def slips(text: Text, phrases: dict[str, str]) -> list[str]:
    """A line for each phrase to avoid in a text, wherever its lines are broken."""
    lines = []
    words = " ".join(text.words.lower().split())
    # A pattern is dear, and most phrases are in no text at all.
    for phrase, better in phrases.items():
        if phrase.lower() not in words:
            continue
        pattern = r"(?<![\w-])" + r"\s+".join(map(re.escape, phrase.split())) + r"(?![\w-])"
        for match in re.finditer(pattern, text.words, re.IGNORECASE):
            line = text.line + text.words.count("\n", 0, match.start())
            lines.append(f"{text.path}:{line}: “{match[0]}”: say {better}")
    return lines


def test_a_phrase_across_two_lines_is_reported_with_its_line() -> None:
    text = Text(WORDS, 7, "The row turns\nto Running by\nitself. Byitself does not count.")
    assert slips(text, {"by itself": "automatically"}) == [
        f"{WORDS}:8: “by\nitself”: say automatically"
    ]


def test_every_kind_of_text_is_read() -> None:
    folders = {text.path.parts[0] for text in texts()}
    assert {"templates", "static", "docs", "README.md", "engines", "spec", "workloads"} <= folders


def test_no_phrase_is_both_said_and_avoided() -> None:
    said = {phrase for row in TABLE for phrase in row["say"].lower().split(", ")}
    assert len(TABLE) > 40
    assert not said & {phrase for row in TABLE for phrase in row["avoid"].split(", ")}
