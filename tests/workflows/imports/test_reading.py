from tests.workflows.imports.files import SEED, one_task, problems_of
from workflows.imports.reading import read_workflow
from workflows.imports.replicas import KnownNames

GANG = """\
workflow:
  name: gang
  groups:
  - name: first
    tasks:
    - {name: a, image: alpine, command: [echo], lead: true}
    - {name: b, image: alpine, command: [echo]%s}
  - name: second
    tasks:
    - {name: c, image: alpine, command: [echo]%s}
"""

GROUPS = "groups:\n- name: g\n  tasks:\n  - {name: x, image: alpine, command: [echo]}\n"

#: What is wrong, the file, the line, and words of the message.
WRONG = {
    "an unknown key": (one_task("imag: alpine\n"), 7, "imag: is not a known field"),
    "a wrong indent": (one_task("args: [a]\n   lead: true\n"), 8, "not valid YAML"),
    "a missing command": (
        "workflow:\n  name: a\n  tasks:\n  - name: b\n    image: c\n",
        4,
        "command: is required",
    ),
    "no tasks": ("workflow:\n  name: a\n", 1, "groups: is required, or tasks"),
    "nothing": ("workflow:\n", 1, "must be an object"),
    "tasks and groups": (one_task(workflow=GROUPS), 3, "not both"),
    "a bad name": (one_task().replace("hello", "1st"), 4, "must begin with a letter"),
    "a reserved name": (one_task().replace("hello", "osmo_ctrl"), 4, "is reserved"),
    "two leaders": (GANG % (", lead: true", ""), 7, "only one task may lead; a does already"),
    "no leader": (GANG.replace(", lead: true", "") % ("", ""), 5, "must lead the group"),
    "a name twice": ((GANG % ("", "")).replace("name: c", "name: B"), 10, "is the same name as b"),
    "names that differ in _ and -": (
        (GANG % ("", "")).replace("name: b", "name: x-y").replace("name: c", "name: x_y"),
        10,
        "x_y is the same name as x-y",
    ),
    "an unknown upstream": (GANG % ("", ", inputs: [{task: d}]"), 10, "there is no task d"),
    "upstream in the group": (GANG % (", inputs: [{task: a}]", ""), 7, "is in the same group"),
    "a circle": (
        GANG % (", inputs: [{task: c}]", ", inputs: [{task: a}]"),
        4,
        "wait for each other: first → second → first",
    ),
    "an input of two kinds": (one_task("inputs:\n- {task: a, url: b}\n"), 8, "exactly one of"),
    "an empty output": (one_task("outputs:\n- {regex: a}\n"), 8, "exactly one of"),
    "an unknown resource": (one_task("resource: big\n"), 7, "resources has no big"),
    "no default resource": (
        one_task(workflow="resources:\n  big: {gpu: 1}\n"),
        4,
        "resources has no default",
    ),
    "half a core": (one_task(workflow="resources:\n  default: {cpu: 0.5}\n"), 8, "whole number"),
    "a wrong amount": (
        one_task(workflow="resources:\n  default:\n    memory: 3 cups\n"),
        9,
        "is not an amount",
    ),
    "a file without content": (one_task("files:\n- path: /a\n"), 8, "either contents or localpath"),
    "a relative path": (one_task("files:\n- {path: a, contents: b}\n"), 8, "the path of a file"),
    "a path outside": (one_task("files:\n- {path: /a/../b, contents: c}\n"), 8, "path of a file"),
    "a path of ours": (one_task("files:\n- {path: /osmo/a, contents: c}\n"), 8, "is kept for data"),
    "a path twice": (
        one_task("files:\n- {path: /a, contents: b}\n- {path: /a, contents: c}\n"),
        9,
        "/a is given twice",
    ),
    "a local path outside": (
        one_task("files:\n- path: /a\n  localpath: ../../etc/passwd\n"),
        9,
        "in the folder of the workflow file",
    ),
    "a missing local file": (one_task("files:\n- {path: /a, localpath: b}\n"), 8, "b is missing"),
    "wrong base64": (
        one_task("files:\n- path: /a\n  base64: true\n  contents: '%'\n"),
        10,
        "is not text in base64",
    ),
    "a relative mount": (one_task("volumeMounts: [data]\n"), 7, "is not a mount"),
    "an unknown action": (one_task("exitActions:\n  RESTART: 1\n"), 8, "is not an action"),
    "a wrong exit code": (one_task("exitActions:\n  FAIL: 1-999\n"), 8, "range of exit codes"),
    "a wrong duration": (
        one_task(workflow="timeout:\n  exec_timeout: 10h5m\n"),
        8,
        "is not a duration",
    ),
    "an unknown host": (one_task("args: ['{{host:other}}']\n"), 7, "the group has no task other"),
    "an unknown input": (one_task("args: ['{{input:0}}']\n"), 7, "the task has 0 inputs"),
    "an undefined variable": (one_task("args: ['{{ n }}']\n"), 7, "'n' is undefined"),
    "a wrong image": (one_task().replace("alpine", "'a b'"), 5, "is not an image URL"),
    "a long command": (one_task(f"args: ['{'a' * 20_000}']\n"), 7, "at most 10000 characters"),
    "a wrong variable": (one_task("environment: {'1A': b}\n"), 7, "is not a variable name"),
    "a local folder as dataset": (
        one_task("inputs:\n- dataset: {name: a, localpath: b}\n"),
        8,
        "upload it first",
    ),
    "a version to write": (one_task("outputs:\n- dataset: {name: 'a:2'}\n"), 8, "names a version"),
    "an odd version": (one_task("inputs:\n- dataset: {name: 'a:b'}\n"), 8, "such as a:2"),
    "an odd dataset": (one_task("outputs:\n- dataset: {name: 'a b'}\n"), 8, "not the name"),
    "a path out": (one_task("outputs:\n- dataset: {name: a, path: ../b}\n"), 8, "must be a path"),
    "a wrong pattern": (one_task("outputs:\n- dataset: {name: a, regex: '('}\n"), 8, "expression"),
    "an input from elsewhere": (one_task("inputs:\n- url: gs://a/b\n"), 8, "gs:// cannot be read"),
}


def test_each_mistake_is_told_at_its_line() -> None:
    missed = {}
    for name, (text, line, words) in WRONG.items():
        problems = problems_of(text)
        if not any(it.line == line and words in it.message for it in problems):
            missed[name] = problems
    assert not missed


def test_all_mistakes_of_a_file_are_told_at_once() -> None:
    text = one_task("imag: a\nargs: {}\n", workflow="timeout: 3\n")
    assert [problem.line for problem in problems_of(text)] == [7, 8, 9]


def test_unknown_credentials_and_platforms_are_told_where_they_are_known() -> None:
    text = one_task(
        "credentials:\n  wandb: {KEY: key}\n  other: /keys\n",
        workflow="resources:\n  default:\n    platform: b200\n",
    )
    known = KnownNames(platforms={"a40": "nvidia-a40"}, credentials={"wandb": ["token"]})
    assert [
        (problem.line, problem.message.partition(": ")[2]) for problem in problems_of(text, known)
    ] == [
        (8, "the credential wandb has no key key; it has token"),
        (9, "there is no credential other that the project may use; create it first"),
        (12, "there is no platform b200; use a40"),
    ]


def test_a_mistake_in_a_loop_is_told_at_the_line_of_the_file() -> None:
    text = SEED.replace("    tasks:\n", "    tasks:\n{% for n in range(3) %}{% endfor %}\n", 1)
    text = text.replace("  groups:", "  groups:\n  {% for n in range(2) %}\n  {% endfor %}")
    wrong = text.replace("lead: true", "leads: true")
    line = wrong.split("\n").index("      leads: true") + 1
    assert [problem.line for problem in problems_of(wrong)] == [line]


def test_a_mistake_below_a_line_that_begins_with_a_token_is_told_at_its_own_line() -> None:
    text = one_task("files:\n- path: /a.sh\n  contents: |\n    {{output}}/run\nargs: [a\nlead: b\n")
    (problem,) = problems_of(text)
    assert problem.line in {11, 12}
    assert "not valid YAML" in problem.message


def test_a_token_needs_no_quotes() -> None:
    text = one_task("files:\n- {path: /a, contents: b}\nargs:\n- {{output}}/a\n- {{workflow_id}}\n")
    (group,) = read_workflow(text).workflow.placed_groups()
    assert group.tasks[0].task.args == ("{{output}}/a", "{{workflow_id}}")


def test_local_files_are_listed_once() -> None:
    assert read_workflow(SEED).local_paths == ("scripts/train_dist.py",)


def test_two_hundred_tasks_are_read() -> None:
    text = """\
workflow:
  name: many
  tasks:
  {% for n in range(200) %}
  - name: task-{{ n }}
    image: alpine
    command: [echo, "{{ n }}"]
  {% endfor %}
"""
    assert len(list(read_workflow(text).workflow.placed_groups())) == 200
