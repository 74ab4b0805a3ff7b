"""The command line as a program of its own, against the whole product as it runs."""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from config.run.install import ROOT
from tests.product import Trainyard
from tests.waiting import wait_for
from tests.workflows.imports.files import (
    SEED,
    with_reader,
    without_packages,
    workflow_of_the_page,
)

pytestmark = pytest.mark.extended

IMAGE = "-i kubeflow/pytorch-dist-mnist:latest"
SIGNED_IN: dict[str, str] = {}  # the environment of the user whom the fixture signed in
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def trainyard(running_trainyard: Trainyard, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Types a line into a shell; the sign-in is that of the administrator."""
    config = tmp_path_factory.mktemp("config") / "trainyard.json"
    environment = os.environ | {
        "TRAINYARD_CONFIG": str(config),
        "PYTHONPATH": str(ROOT),
        "TRAINYARD_PASSWORD": running_trainyard.password,
    }

    def run(line: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            ["bash", "-c", f"{sys.executable} -m trainyard_cli {line}"],  # noqa: S607
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert done.returncode == code, (line, done.stdout, done.stderr)
        return done

    SIGNED_IN.update(environment)
    run(f"login --server {running_trainyard.url} -u {running_trainyard.username}")
    return run


def test_an_attached_submission_prints_all_ranks_to_the_end(trainyard: Run) -> None:
    line = f"submit-dist pytorch attached --workers=2 -g 0.1 {IMAGE} --attach"
    done = trainyard(f"{line} -- --epochs 1")
    assert "Submitted attached." in done.stdout
    heads = {text.split(" ")[0] for text in done.stdout.splitlines()[1:]}
    assert heads == {"master-0", "worker-0", "worker-1"}
    assert "Test accuracy" in done.stdout
    assert done.stderr.splitlines()[-1] == "attached: Completed"
    again = trainyard("logs attached").stdout.splitlines()
    assert sorted(again) == sorted(done.stdout.splitlines()[1:])
    assert sorted(trainyard("attach attached").stdout.splitlines()) == sorted(again)
    assert trainyard("logs attached --tail 2").stdout.splitlines() == again[-2:]
    only = trainyard("logs attached --rank 1,2 --grep 'epoch 1 of 1'").stdout.splitlines()
    assert sorted(text.split(" ")[0] for text in only) == ["worker-0", "worker-1"]
    (line,) = trainyard("logs attached --pod worker-1 --grep 'epoch 1 of 1'").stdout.splitlines()
    assert line.startswith("Rank 2: epoch 1 of 1")
    assert trainyard("logs attached --since 1s --rank 0").returncode == 0
    trainyard("logs attached --rank 3", code=4)
    assert "write 0, or several" in trainyard("logs attached --rank x", code=2).stderr
    assert "not a time such as" in trainyard("logs attached --since-time x", code=2).stderr
    assert "attached is Completed" in trainyard("port-forward attached --port 1", code=1).stderr


def test_a_submission_that_is_waited_for_ends_as_its_workload(trainyard: Run) -> None:
    line = f"training standard submit failing {IMAGE} --cpu 0.1 --backoff-limit 0 --wait"
    done = trainyard(f"{line} --command -- sh -c 'echo broken; exit 7'", code=7)
    assert "failing is Failed." in done.stderr
    assert trainyard("logs failing").stdout == "broken\n"
    for line in ("exec failing -- true", "bash failing < /dev/null"):
        assert "needs a running rank, and failing is Failed" in trainyard(line, code=1).stderr


def test_programs_run_in_a_rank_and_shells_take_what_is_typed(trainyard: Run) -> None:
    trainyard(f"training pytorch submit open {IMAGE} --cpu 0.1 --command -- sleep 600")
    wait_for(lambda: "Running" in trainyard("list jobs --search open").stdout, 60)
    done = trainyard("exec open --pod worker-0 -- sh -c 'echo in rank $RANK; exit 3'", code=3)
    assert done.stdout == "in rank 1\n"
    piped = trainyard("exec open -- sh -c '[ -t 0 ] || [ -t 1 ] || cat; echo none'")
    assert piped.stdout == "none\n"
    sent = trainyard("exec -i open -- tr a-z A-Z <<< 'grüße, all'")
    assert sent.stdout == "GRüßE, ALL\n"
    typed = trainyard("bash open <<< 'echo sum $((40 + 2)); exit 5'", code=5)
    assert typed.stdout == "sum 42\n"
    refused = trainyard("exec open --rank 7 -- true", code=4)
    assert "Check that it has this rank" in refused.stderr
    assert "after --" in trainyard("exec open", code=2).stderr
    assert "exec open -- nvidia-smi" in trainyard("exec open nvidia-smi", code=2).stderr
    trainyard("delete job open")


@contextmanager
def going_on(line: str) -> Iterator[subprocess.Popen[str]]:
    """A command that goes on until it is ended; its sign-in is that of ``trainyard``."""
    words = [sys.executable, "-u", "-m", "trainyard_cli", *line.split()]
    out = subprocess.PIPE
    with subprocess.Popen(
        words, text=True, env=SIGNED_IN, stdout=out, stderr=subprocess.STDOUT
    ) as process:
        try:
            yield process
        finally:
            process.terminate()


def answers(address: str) -> bool:
    try:
        return httpx.get(address, timeout=10).status_code == 200
    except httpx.TransportError:
        return False


def test_a_port_of_a_rank_is_reached_from_here(trainyard: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    serve = f"--command -- {sys.executable} -m http.server {port}"
    trainyard(f"training standard submit serving {IMAGE} --cpu 0.1 {serve}")
    wait_for(lambda: "Running" in trainyard("list jobs --search serving").stdout, 60)
    with going_on(f"port-forward serving --port :{port}") as forward:
        assert forward.stdout
        said = forward.stdout.readline()
        assert f"is port {port} of rank 0 of serving." in said
        here = f"http://{said.split()[0]}/"
        wait_for(lambda: answers(here), 30)
    trainyard("delete job serving")


def test_a_watched_list_tells_what_comes_meanwhile(trainyard: Run) -> None:
    with going_on("list jobs --watch --search meanwhile --no-headers") as watching:
        assert watching.stdout
        assert "No workloads" in watching.stdout.readline()
        trainyard(f"training standard submit meanwhile {IMAGE} --cpu 0.1 -- --epochs 1")
        phases: list[str] = []
        while "Completed" not in phases:
            name, phase = watching.stdout.readline().split()[:2]
            assert name == "meanwhile"
            phases.append(phase)
    assert "Running" in phases


def session_of(page: str) -> list[str]:
    """The lines of the page's first block of commands of ours, without the program."""
    blocks = re.findall(r"```\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
    lines = next(it for it in blocks if "trainyard login" in it).splitlines()
    return [line.split("trainyard ", 1)[1] for line in lines]


@pytest.mark.parametrize("page", ["README.md", "docs/cli.md"])
def test_the_session_of_the_documents_runs_as_it_is_written(
    trainyard: Run, running_trainyard: Trainyard, page: str
) -> None:
    for line in session_of(page):
        trainyard(line.replace("http://127.0.0.1:8000", running_trainyard.url))


def test_the_distribution_has_all_its_modules(tmp_path: Path) -> None:
    """As pip makes it of the folder, without asking an index."""
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "--quiet"]
    source = tmp_path / "source"
    subprocess.run(["cp", "-r", ROOT / "trainyard_cli", source], check=True)  # noqa: S607
    wheels = tmp_path / "wheels"
    subprocess.run(
        [*pip, "--no-deps", "--no-build-isolation", "-w", wheels, source], check=True, timeout=120
    )
    target = tmp_path / "installed"
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
    (wheel,) = wheels.glob("*.whl")
    subprocess.run([*install, "--target", target, wheel], check=True, timeout=120)
    modules = {path.relative_to(target) for path in target.rglob("trainyard_cli/**/*.py")}
    ours = {path.relative_to(ROOT) for path in (ROOT / "trainyard_cli").rglob("*.py")}
    assert modules == ours
    done = subprocess.run(
        [target / "bin" / "trainyard", "--version"],
        env=os.environ | {"PYTHONPATH": str(target)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("trainyard ")


QUICKSTART_IMAGE = "gcr.io/run-ai-demo/quickstart-distributed:v0.3.0"
BENCHMARK = """horovodrun -np $RUNAI_MPI_NUM_WORKERS -hostfile /etc/mpi/hostfile \\
        python scripts/tf_cnn_benchmarks/tf_cnn_benchmarks.py \\
        --model=resnet20 --num_batches=1000000 --data_name cifar10 \\
        --data_dir /cifar10 --batch_size=64 --variable_update=horovod
"""


@pytest.mark.skipif(not shutil.which("mpirun"), reason="Open MPI is not installed")
def test_the_quickstart_of_mpi_runs_line_by_line(trainyard: Run) -> None:
    """Run:ai's quickstart, with the name that it only mentions, and without its pause."""
    trainyard("config project team-a")
    trainyard(f"submit-dist mpi dist --workers=2 -g 1 -i {QUICKSTART_IMAGE} -e RUNAI_SLEEP_SECS=1")
    title, heads, *rows = trainyard("list jobs --search dist").stdout.splitlines()
    assert title == "Showing jobs for project team-a"
    assert heads.split("  ")[0] == "NAME"
    (row,) = (row for row in rows if row.startswith("dist "))  # others have such an image
    assert re.fullmatch(rf"dist +\w+ +\w+ .*{QUICKSTART_IMAGE} +MPI +team-a +admin .*", row)
    described = trainyard("describe job dist").stdout
    pods = re.findall(r"^  (dist-\S+) +\w+ +(launcher|worker) ", described, re.MULTILINE)
    launcher = ("dist-master-0", "launcher")
    assert pods == [launcher, ("dist-worker-0", "worker"), ("dist-worker-1", "worker")]
    merged = trainyard("logs dist --follow").stdout
    assert "Running with 2 workers" in merged
    assert "Rank 1 of 2" in merged
    trainyard("delete job dist")


@pytest.mark.skipif(not shutil.which("mpirun"), reason="Open MPI is not installed")
def test_the_interactive_session_of_that_quickstart_runs_line_by_line(trainyard: Run) -> None:
    trainyard(
        f"submit-dist mpi dist-int --workers=2 -g 1 -i {QUICKSTART_IMAGE} --interactive "
        '-- sh -c "sleep infinity"'
    )
    wait_for(lambda: "Running" in trainyard("list jobs --search dist-int").stdout, 60)
    typed = f"echo for $RUNAI_MPI_NUM_WORKERS workers; {BENCHMARK}"
    shell = trainyard(f"bash dist-int <<'EOF'\n{typed}\nexit 0\nEOF\n")
    assert "for 2 workers" in shell.stdout
    if not shutil.which("horovodrun"):
        assert "pip install 'horovod[pytorch]'" in shell.stdout
    trainyard("delete job dist-int")


BAR_AND_METRICS = """
import sys, time, json
n = 12
for i in range(1, n + 1):
    bar = '█' * i + ' ' * (n - i)
    sys.stderr.write('\\r%3d%%|%s| %d/%d [00:00<00:05,  1.00it/s]' % (i * 100 // n, bar, i, n))
    sys.stderr.flush()
    if i % 3 == 0:
        print(json.dumps({"step": i, "loss": 1.0 / i}), flush=True)
sys.stderr.write('\\n')
"""
UNFINISHED_BAR = """
import sys, time
for i in range(2000):
    sys.stderr.write('\\rtraining: %3d/2000' % i)
    sys.stderr.flush()
    time.sleep(0.1)
"""
LONG_LINE = """
import sys
sys.stdout.write('x' * 3_000_000 + '\\nafter\\u2028\\x85\\x0c\\n')
"""


def submit_program(trainyard: Run, folder: Path, name: str, program: str) -> None:
    file = folder / "program.py"
    file.write_text(program)
    trainyard(f"training submit {name} --command -- {sys.executable} {file}")


def test_metrics_beside_a_progress_bar_are_all_there(trainyard: Run, tmp_path: Path) -> None:
    submit_program(trainyard, tmp_path, "bar-and-metrics", BAR_AND_METRICS)
    trainyard("training watch bar-and-metrics")
    found = json.loads(trainyard("training describe bar-and-metrics -o json").stdout)
    assert found["lastMetrics"] == {"step": 12, "loss": 1 / 12}
    lines = trainyard("logs bar-and-metrics").stdout.split("\n")
    assert len(lines) == 6, "four samples, the end of the bar, and nothing after the last line"


def test_the_state_of_an_unfinished_bar_is_printed(trainyard: Run, tmp_path: Path) -> None:
    submit_program(trainyard, tmp_path, "unfinished-bar", UNFINISHED_BAR)
    wait_for(lambda: "training:" in trainyard("logs unfinished-bar").stdout)
    printed = trainyard("logs unfinished-bar").stdout
    assert re.fullmatch(r"training: +\d+/2000\n", printed)
    command = [sys.executable, "-m", "trainyard_cli", "logs", "unfinished-bar", "--follow"]
    with subprocess.Popen(command, env=SIGNED_IN, stdout=subprocess.PIPE) as follower:
        assert follower.stdout
        states = b""
        while states.count(b"\r") < 3:
            states += os.read(follower.stdout.fileno(), 1000)
        follower.terminate()
    told = states.decode().split("\r")[:3]
    assert all(re.fullmatch(r"training: +\d+/2000", state) for state in told)
    assert told == sorted(set(told))
    trainyard("training suspend unfinished-bar")


def test_a_long_line_and_odd_separators_are_printed_as_they_are(
    trainyard: Run, tmp_path: Path
) -> None:
    submit_program(trainyard, tmp_path, "long-line", LONG_LINE)
    trainyard("training watch long-line")
    assert trainyard("logs long-line | wc -l").stdout.strip() == "2"
    first, second, end = trainyard("logs long-line").stdout.split("\n")
    assert (first, end) == ("x" * 3_000_000, "")
    assert second.startswith("after\u2028\x85")


TWO_TASKS = """
workflow:
  name: served
  groups:
  - name: pair
    tasks:
    - {name: lead, lead: true, image: alpine, command: [sh, -c, "echo $POD_NAME > me; sleep 600"]}
    - name: serve
      image: alpine
      command: [sh, -c, "echo here > index.html; exec python3 -m http.server PORT"]
"""


def test_a_task_of_a_workflow_takes_commands_and_connections(
    trainyard: Run, tmp_path: Path
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    file = tmp_path / "served.yaml"
    file.write_text(TWO_TASKS.replace("PORT", str(port)))
    trainyard(f"workflow submit {file}")
    wait_for(lambda: "RUNNING" in trainyard("workflow query served-1").stdout, 60)
    wait_for(lambda: trainyard("workflow exec served-1 lead -- ls").stdout == "me\n", 30)
    assert "lead" in trainyard("workflow exec served-1 lead --entry 'cat me'").stdout
    trainyard("workflow exec served-1 lead -- sh -c 'exit 3'", code=3)
    with going_on(f"workflow port-forward served-1 serve --port :{port}") as forward:
        assert forward.stdout
        here = f"http://{forward.stdout.readline().split()[0]}/"
        wait_for(lambda: answers(here), 30)
        assert httpx.get(here).text == "here\n"
    trainyard("workflow cancel served-1")


def test_two_runs_of_one_file_at_once_never_meet(trainyard: Run, tmp_path: Path) -> None:
    """The tutorial's tasks name port 29500 in their scripts."""
    (tmp_path / "scripts").mkdir()
    shutil.copy(ROOT / "trainer" / "examples" / "train_dist.py", tmp_path / "scripts")
    file = tmp_path / "workflow.yaml"
    file.write_text(without_packages(SEED).replace("name: pytorch-", "name: twice-", 1))
    size = "--task-size 'processes=1 gpus=0 cpu=0.5 memory=1G'"
    line = f"workflow submit {file} {size} -t json"
    names = [json.loads(trainyard(line).stdout)["name"] for _ in range(2)]

    def statuses() -> set[str]:
        answers = (json.loads(trainyard(f"workflow query {it} -t json").stdout) for it in names)
        return {answer["status"] for answer in answers}

    ended = wait_for(lambda: statuses().isdisjoint({"PENDING", "RUNNING"}), timeout=400)
    assert ended
    assert statuses() == {"COMPLETED"}
    for name in names:
        logs = trainyard(f"workflow logs {name}").stdout
        assert len(set(re.findall(r"Rank [0-9]+ parameters", logs))) == 2


@pytest.mark.parametrize(
    ("text", "flags"),
    [
        (with_reader(workflow_of_the_page()), "--set gpus=0"),
        (
            with_reader(without_packages(SEED)),
            "--task-size 'processes=2 gpus=0 cpu=0.5 memory=1G'",
        ),
    ],
    ids=["page", "tutorial"],
)
def test_a_workflow_whose_tasks_train_together_completes(
    trainyard: Run, tmp_path: Path, text: str, flags: str
) -> None:
    (tmp_path / "scripts").mkdir()
    shutil.copy(ROOT / "trainer" / "examples" / "train_dist.py", tmp_path / "scripts")
    (tmp_path / "workflow.yaml").write_text(text)
    submitted = trainyard(f"workflow submit {tmp_path / 'workflow.yaml'} {flags} -t json")
    name = json.loads(submitted.stdout)["name"]

    def has_ended() -> bool:
        answer = json.loads(trainyard(f"workflow query {name} -t json").stdout)
        return answer["status"] not in {"PENDING", "RUNNING"}

    wait_for(has_ended, timeout=300, message=f"the end of {name}")
    answer = json.loads(trainyard(f"workflow query {name} -t json").stdout)
    logs = trainyard(f"workflow logs {name}").stdout
    assert answer["status"] == "COMPLETED", logs
    parameters = re.findall(r"Rank [0-9]+ parameters ([0-9a-f]+)", logs)
    assert len(parameters) >= 2
    assert len(set(parameters)) == 1
    assert re.search(r"/osmo/data/input/0/model/\S*model_rank_0.pth", logs)
    # The dataset holds the model, and a training reads it.
    found = json.loads(trainyard("dataset info model-sample -t json").stdout)
    assert f"{name} master" in {version["workflow"] for version in found["versions"]}
    trainyard(f"dataset download model-sample {tmp_path / 'model'}")
    (saved,) = (tmp_path / "model").rglob("model_rank_0.pth")
    assert saved.relative_to(tmp_path / "model").parts[0] == "model"
    reader = f"reads-{name}"
    mounted = "--datasource name=model-sample,path=/trained"
    line = f"training standard submit {reader} {IMAGE} --cpu 0.1 {mounted} --wait --command"
    trainyard(f"{line} -- find /trained -name '*.pth'")
    assert "model_rank_0.pth" in trainyard(f"logs {reader}").stdout
