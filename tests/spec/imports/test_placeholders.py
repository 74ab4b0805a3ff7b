"""Placeholders are refused where they surely are some, and texts in brackets are not."""

import pytest

from spec.imports.sbatch import import_script

SURE = "has to be replaced by a value"
UNSURE = "looks like a placeholder"


def find_placeholders(line: str, interpreter: str = "/bin/bash") -> list[tuple[bool, str]]:
    text = f"#!{interpreter}\n{line}\nsrun -K true\n"
    notes = [note for note in import_script(text, unchanged=True).notes if note.line == 2]
    found = [note for note in notes if SURE in note.text or UNSURE in note.text]
    return [(note.blocks, note.text.partition(" ")[0]) for note in found]


@pytest.mark.parametrize(
    "line",
    [
        *("#SBATCH --chdir=[PATH_TO_THE_MAIN_FOLDER]", "#SBATCH --account=<your_account>"),
        *("#SBATCH -p YOUR_PARTITION", "#SBATCH -A '{{ account }}'", "#SBATCH -D /path/to/project"),
        *("#SBATCH --output=[LOG_FOLDER]/a.out", "cd [PATH]", "conda activate [YOUR_CONDA_ENV]"),
        *(
            "python train.py --data [DATA_DIR] --epochs 3",
            "cd [YOUR MAIN FOLDER]",
            "x=$(cat [FILE])",
        ),
    ],
)
def test_a_value_or_word_that_is_a_placeholder_blocks(line: str) -> None:
    ((blocks, _),) = find_placeholders(line)
    assert blocks


@pytest.mark.parametrize(
    "line",
    [
        *("export DATA=[DATA_DIR]", "python a.py --data=[DATA_DIR]", "cd /srv/[PROJECT]/code"),
        *("#SBATCH --account=your_account", "#SBATCH --output=/path/to/a.out", "cd [FOLDER]/code"),
        *("#SBATCH --comment='[INFO] text'", "#SBATCH --mail-user=<your_email>"),
    ],
)
def test_what_may_be_a_placeholder_is_a_note(line: str) -> None:
    ((blocks, _),) = find_placeholders(line)
    assert not blocks


@pytest.mark.parametrize(
    "line",
    [
        *(
            'echo "[INFO] start"',
            "echo [INFO] start",
            "printf '[ERROR] %s' a",
            "echo 'a' \"[WARN]\"",
        ),
        *("id=$(echo run1 | tr -dc '[A-Z0-9]')", "tr -dc [A-Z0-9_]", "echo ${HOSTS[INDEX]}"),
        *('[[ "$A" == [ABCD]* ]] && true', "# cd [PATH_TO_FOLDER]", "python a.py '[DATA]'"),
        *("cat <<EOF\n[SECTION]\nEOF", "declare -A a=([FIRST]=1 [SECOND]=2)", "ls x[ABCD]y"),
        *(
            "#SBATCH --array=[1-3]",
            "#SBATCH -w node[01-04]",
            'python a.py "run [FINAL]"',
            "ls [A-Z0-9]",
        ),
        *("sed -i s/[NAME]/x/ a", "grep [ERROR] log", "[ -f FILE ] && true"),
    ],
)
def test_brackets_in_texts_and_patterns_are_no_placeholders(line: str) -> None:
    assert find_placeholders(line) == []


def test_another_language_has_placeholders_in_options_alone() -> None:
    assert find_placeholders("train([DATA_DIR])", "/usr/bin/env python3") == []
    assert find_placeholders("#SBATCH -D [DATA_DIR]", "/usr/bin/env python3") == [
        (True, "[DATA_DIR]")
    ]
