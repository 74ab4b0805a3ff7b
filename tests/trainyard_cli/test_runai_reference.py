"""Every verb and flag of Run:ai's two command lines is taken, or answered with what to write."""

import shlex
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO

import pytest

from tests.trainyard_cli.receiver import Receiver, receiver
from trainyard_cli import app
from trainyard_cli.errors import ExitCode

__all__ = ["receiver"]

#: Exit codes of a line that was understood: nothing listens at the receiver's address.
TAKEN = {0, ExitCode.UNREACHABLE}
GANG_COMMANDS = (
    *("submit-dist mpi", "submit-dist pytorch", "submit-dist tf", "submit-dist xgboost"),
    *("training jax submit", "mpi submit", "pytorch submit", "xgboost submit"),
    "distributed submit",
)
POD_COMMANDS = ("submit", "training submit", "training standard submit", "workspace submit")
NAMES = ("--name n", "--job-name-prefix p", "--name-prefix p")
PORTS = ("--port 8888", "--service-type nodeport --port 1:2", "-s ingress --port 80")
#: Flags of every submission, each as people type it.
FLAGS = (
    *(
        "--template t",
        "--environment env",
        "--compute c",
        "--datasource type=nfs,name=d",
        "--interactive",
        "-i img",
        "--image img",
    ),
    *("--image-pull-policy Always", "--image-pull-my-credentials type=docker-registry,name=r"),
    *("-e A=B", "--environment A=B", "--environment-variable A=B", "-e A=SECRET:s,k"),
    *("--env-secret A=s,key=k", "--env-pod-field-ref A=metadata.name", "-l a=b", "--label a=b"),
    "--env-my-credentials type=generic-secret,name=A,credential-name=c,key=k",
    *("-a a=b", "--annotation a=b", "--add-capability SYS_PTRACE", "--capability SYS_PTRACE"),
    *("--attach", "--stdin", "-t", "--tty", "--working-dir /w", "--create-home-dir"),
    *("--cpu 0.5", "--cpu-limit 1", "--memory 1G", "--memory-limit 2G", "-g 0.5", "--gpu 1"),
    *("--gpu-memory 4G", "--extended-resource rdma/rdma=1", "--large-shm", "--backoff-limit 3"),
    *("--backoffLimit 3", "--ttl-after-finish 2h", "--auto-deletion-time-after-completion 2h"),
    *("--preferred-pod-topology-key zone", "--required-pod-topology-key zone"),
    *("--git-sync source=https://h/r,branch=b,target=/t", "--mount-propagation -v /a:/b"),
    *("--git-sync name=n,repository=https://h/r,path=/t,secret=s,rev=r", "-v /a:/b:ro"),
    *("-v /a:/b::nfs", "-v path=/a,mount=/b,readwrite", "--nfs-server h -v /a:/b"),
    *("--pvc claim:/data", "--pvc claim:/data:ro", "--pvc :3Gi:/data", "--pvc fast:3Gi:/data:ro"),
    *("--pvc-exists claimname=c,path=/p", "--existing-pvc claimname=c,path=/p"),
    *("--pvc-new claimname=c,size=1G,path=/p,accessmode-rwm", "--new-pvc size=1G,path=/p,ro"),
    *("--s3 name=n,bucket=b,path=/p,accesskey=a,url=https://h", "--secret-volume path=/p,name=s"),
    *("--nfs path=/a,server=h,mountpath=/m,readwrite", "--empty-dir-volume name=n,path=/p"),
    *("--host-path path=/a,mount=/m,readwrite", "--configmap-volume name=c,path=/p"),
    "--configmap-map-volume name=c,path=/p,subpath=s,default-mode=0644",
    "--external-url container=80,url=https://h,authusers=u",
    *("--address 0.0.0.0", "--host-ipc", "--host-network"),
    *("--port service-type=NodePort,container=80,external=30080", "--allow-privilege-escalation"),
    *("--prevent-privilege-escalation", "--seccomp-profile RuntimeDefault", "--run-as-user"),
    *("--run-as-user 1000", "--run-as-user=1000", "--run-as-uid 1", "--run-as-gid 1"),
    *("--run-as-group 1", "--run-as-non-root", "--supplemental-groups 1,2"),
    *("--user-group-source fromTheImage", "--node-pools 'a b'", "--node-pool a"),
    *("--node-type t", "--exclude-node n", "--priority high", "--preemptibility preemptible"),
    *(
        "--preemptible",
        "--toleration operator=Exists,key=k,effect=NoSchedule",
        "--always-pull-image",
    ),
    *("--gpu-devices-request 1", "--gpu-request-type portion", "--gpu-portion-request 0.1"),
    *("--gpu-portion-limit 0.2", "--gpu-memory-request 1G", "--gpu-memory-limit 1G"),
    *("--cpu-core-request 1", "--cpu-core-limit 1", "--cpu-memory-request 1G", "--local-image"),
    *("--cpu-memory-limit 1G", "--termination-grace-period 5s", "--restart-policy Never"),
    *("--wait-for-submit 1m", "--completions 1 --parallelism 1", "-p team-a", "--project team-a"),
    *("--loglevel debug", "-d", "--debug", "-q", "--quiet", "--verbose", "--interactive=true"),
)
GANG_FLAGS = (
    *("--workers 2", "--clean-pod-policy Running", "--master-args '-a -b'", "--master-no-pvcs"),
    *("--master-environment A=B", "--master-environment-variable A=-", "--master-gpu 1"),
    *("--master-extended-resource rdma/rdma=1", "--master-command 'sh -c x'"),
    *("--master-gpu-devices-request 1", "--master-gpu-portion-request 0.1", "--no-master"),
    *("--master-gpu-portion-limit 0.2", "--master-cpu-core-request 1", "--master-cpu-core-limit 1"),
    *("--master-cpu-memory-request 1G", "--master-cpu-memory-limit 1G"),
    "--master-restart-policy Never",
)
FRAMEWORK_FLAGS = {
    "pytorch submit": ("--min-replicas 1 --max-replicas 3", "--min-workers 1 --max-workers 3"),
    "mpi submit": ("--slots-per-worker 2", "--ssh-auth-mount-path /ssh"),
    "distributed submit": ("--framework PyTorch", "-f MPI"),
}
#: Flags without a counterpart → words of what to do instead.
ANSWERED = {
    "--mig-profile 1g.5gb": "--gpu-portion-request",
    "--completions 2": "--workers",
    "--parallelism 2": "--workers",
    "--runs 3": "submit each",
    "--privileged": "--capability",
    "--datavolume name=d,mountpath=/p": "--datasource",
    "--pod-running-timeout 5m": "--time-limit",
    "--elastic": "--min-replicas",
    "--inference": "trainings and workspaces",
    "--jupyter": "trainyard workspace submit",
    "--s3 bucket=b,key=k,secret=s,target=/t": "credential=NAME",
    "--git-sync source=https://h/r,username=u,password=p,target=/t": "credential=NAME",
    "--pvc /data": "CLAIM:PATH",
    "-e A=SECRET:s": "SECRET:SECRET,KEY",
    "--port 8080:80": "--service-type",
}
VERBS = (
    *("config project p", "project set p", "list", "list jobs", "list job", "jobs"),
    *("list -A", "list --all-projects", "list jobs -p p", "list projects", "list project"),
    *("list nodes", "list node", "list clusters", "list workloads", "list templates"),
    *("list nodepools", "list environments", "list datasources", "list credentials"),
    *("job list", "jobs list", "job describe a", "workloads list", "workload delete a"),
    *("describe job a -o json", "describe job a -o yaml", "describe job a -o wide", "describe a"),
    *("describe node n", "describe node", "describe workload a", "get a", "node describe n"),
    *("delete job a", "delete a", "delete jobs a b", "delete workload a"),
    *("logs a -f", "logs a --pod worker-0", "logs a -i worker-0", "logs a --since 5m -t 3"),
    *("logs a --since-time 2026-01-01T00:00:00Z", "logs a --timestamps", "logs a --tail -1"),
    *("logs a -c main --previous --limit-bytes 10 --wait-timeout 1m", "bash a --pod worker-0"),
    *("bash a --container main -i -t", "exec a -it -- ls", "exec a --pod worker-0 -c x -- ls"),
    *("attach a", "port-forward a --port 80:81", "suspend a", "resume a", "whoami", "version"),
    *("project list", "projects list", "cluster list", "node list", "nodes list"),
    *("nodepool list", "workload list --all --json --no-headers", "template list --yaml"),
    *("workload list --limit 50 --offset 0 --status Running --table", "workload describe a"),
    "describe job a --general --compute=false --pods=true --events --networks --containers",
    "describe job a --pod-limit 10 --event-limit 50 --sortEvents desc -o table",
    *("training pytorch list", "tensorflow list", "tf describe a", "xgboost logs a", "jax bash a"),
    *("pytorch list", "pytorch describe a", "pytorch delete a", "pytorch logs a", "pytorch bash a"),
    *("pytorch suspend a", "pytorch resume a", "mpi list", "mpi resume a", "mpi delete a"),
    *("pytorch attach a", "mpi exec a -- ls", "mpi port-forward a --port 80", "distributed list"),
    *("-d list", "--quiet list jobs", "--loglevel info list", "logout"),
)
ANSWERED_VERBS = {
    "top node": "trainyard node list",
    "pvc list": "trainyard datasource list",
    "list pvc": "trainyard datasource list",
    "kubeconfig set": "nobody needs a kubeconfig",
    "report metrics": "page of a workload",
    "completion bash": "--install-completion",
    "help": "trainyard --help",
    "upgrade": "pip install",
    "update": "pip install",
    "config set": "trainyard login --server",
    "config generate": "trainyard login --server",
    "config describe": "trainyard whoami",
    "config cluster c": "trainyard project set",
    "cluster set c": "trainyard project set",
    "inference submit a": "trainings and workspaces",
}


def run(receiver: Receiver, line: str) -> tuple[int, str]:
    """Run a line, and return its exit code and its messages in one line."""
    messages = StringIO()
    with redirect_stdout(StringIO()), redirect_stderr(messages):
        code = app.main(["--config-file", str(receiver.config), *shlex.split(line)])
    return code, " ".join(messages.getvalue().replace("│", " ").split())


def untaken(receiver: Receiver, lines: list[str]) -> list[str]:
    """Return the messages of the lines that were not understood."""
    results = [(line, *run(receiver, line)) for line in lines]
    return [f"{line}: {text}" for line, code, text in results if code not in TAKEN]


@pytest.mark.parametrize("command", [*GANG_COMMANDS, *POD_COMMANDS])
def test_flags_of_every_submission_are_taken(receiver: Receiver, command: str) -> None:
    """All on one line, because each line builds its command with all its flags."""
    flags = [*FLAGS, *FRAMEWORK_FLAGS.get(command, ())]
    flags += GANG_FLAGS if command in GANG_COMMANDS else ()
    assert untaken(receiver, [f"{command} n {' '.join(flags)}"]) == []


def test_names_and_ports_of_every_form_are_taken(receiver: Receiver) -> None:
    assert untaken(receiver, [f"submit {flags} -i img" for flags in (*NAMES, *PORTS)]) == []


@pytest.mark.parametrize(("flag", "words"), ANSWERED.items(), ids=list(ANSWERED))
def test_a_flag_without_counterpart_names_another(
    receiver: Receiver, flag: str, words: str
) -> None:
    for command in ("submit", "pytorch submit"):
        code, text = run(receiver, f"{command} n -i img {flag}")
        assert code == ExitCode.USAGE
        assert words in text


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("submit n --workers 2", "Only distributed trainings"),
        ("submit n --master-large-shm", "Only distributed trainings have a master"),
        ("submit n --no-master", "Only distributed trainings have a master"),
        ("pytorch submit n --slots-per-worker 2", "Only MPI trainings"),
        ("mpi submit n --max-replicas 2", "Only PyTorch trainings"),
    ],
)
def test_a_flag_of_other_workloads_says_whose_it_is(
    receiver: Receiver, line: str, words: str
) -> None:
    code, text = run(receiver, line)
    assert code == ExitCode.USAGE
    assert words in text


def test_verbs_are_taken_in_every_order(receiver: Receiver) -> None:
    assert untaken(receiver, list(VERBS)) == []


@pytest.mark.parametrize(("line", "words"), ANSWERED_VERBS.items(), ids=list(ANSWERED_VERBS))
def test_a_verb_without_counterpart_names_another(
    receiver: Receiver, line: str, words: str
) -> None:
    code, text = run(receiver, line)
    assert code == ExitCode.USAGE
    assert words in text


def test_claims_are_mounted_as_the_first_command_line_did(receiver: Receiver) -> None:
    line = "trainyard submit n -i img --pvc data:/data:ro --pvc fast:3Gi:/new --pvc :1G:/own:ro"
    old, new, own = receiver.request(line)["spec"]["storage"]["pvc"]
    assert old == {"existingPvc": True, "claimName": "data", "path": "/data", "readOnly": True}
    assert new == {"claimInfo": {"storageClass": "fast", "size": "3Gi"}, "path": "/new"}
    assert own == {"claimInfo": {"size": "1G"}, "path": "/own", "readOnly": True}


def test_a_variable_may_be_a_key_of_a_secret(receiver: Receiver) -> None:
    spec = receiver.request("trainyard submit n -i img -e USER=SECRET:login,name")["spec"]
    secret = {"name": "login", "key": "name"}
    assert spec["environmentVariables"] == [{"name": "USER", "secret": secret}]


def test_the_user_who_types_runs_the_workload(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.getuid", lambda: 1500)
    monkeypatch.setattr("os.getgid", lambda: 2500)
    spec = receiver.request("trainyard submit n -i img --run-as-user")["spec"]
    assert spec["createHomeDir"] is True
    assert spec["security"] == {"runAsUid": 1500, "runAsGid": 2500, "uidGidSource": "custom"}
    spec = receiver.request("trainyard submit n -i img --run-as-user 7")["spec"]
    assert spec["security"] == {"runAsUid": 7, "uidGidSource": "custom"}


def test_switches_stand_for_values_of_other_flags(receiver: Receiver) -> None:
    line = "trainyard submit n -i img --preemptible --always-pull-image"
    spec = receiver.request(f"{line} --prevent-privilege-escalation")["spec"]
    assert spec["preemptibility"] == "preemptible"
    assert spec["imagePullPolicy"] == "Always"
    assert spec["security"] == {"allowPrivilegeEscalation": False}


def test_a_reordered_line_is_sent_as_its_usual_form(receiver: Receiver) -> None:
    usual = receiver.request("trainyard training mpi submit n --workers 2 -i img -- -v")
    assert receiver.request("trainyard mpi submit n --workers 2 -i img -- -v") == usual
    assert receiver.request("trainyard submit-mpi n --workers 2 -i img -- -v") == usual
