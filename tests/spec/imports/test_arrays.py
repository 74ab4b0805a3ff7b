"""The elements of a job array, as sbatch reads them."""

import pytest

from spec.imports.arrays import ArrayError, JobArray, parse_array
from spec.imports.directives import directive_lines


@pytest.mark.parametrize(
    ("value", "array"),
    [
        ("3", JobArray((3,))),
        ("0-3", JobArray((0, 1, 2, 3))),
        ("5,1-2", JobArray((1, 2, 5))),
        ("0-9:4", JobArray((0, 4, 8))),
        ("0-2%2", JobArray((0, 1, 2), at_once=2)),
    ],
)
def test_an_array_has_these_elements(value: str, array: JobArray) -> None:
    assert parse_array(value) == array


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("", "is not a list"),
        ("a", "is not a list"),
        ("3-1", "is not a list"),
        ("0-3%x", "is not a list"),
        ("0-3:0", "is not a list"),
        ("0-999", "has 1000 elements"),
    ],
)
def test_a_wrong_array_says_how(value: str, problem: str) -> None:
    with pytest.raises(ArrayError, match=problem):
        parse_array(value)


def test_an_element_gets_slurms_variables() -> None:
    variables = JobArray((0, 4, 8)).variables(4, 77)
    assert variables == {
        "SLURM_ARRAY_JOB_ID": "77",
        "SLURM_ARRAY_TASK_ID": "4",
        "SLURM_ARRAY_TASK_COUNT": "3",
        "SLURM_ARRAY_TASK_MIN": "0",
        "SLURM_ARRAY_TASK_MAX": "8",
        "SLURM_ARRAY_TASK_STEP": "4",
    }


def test_an_array_is_not_handed_on_to_slurm() -> None:
    text = "#!/bin/bash\n#SBATCH -n 2 --array=0-3\n#SBATCH -t 5\nsrun hostname\n"
    assert list(directive_lines(text)) == ['#SBATCH --ntasks="2"', '#SBATCH --time="5"']
