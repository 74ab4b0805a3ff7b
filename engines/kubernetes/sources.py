"""Init containers that bring data into a pod: a Git repository, an S3 bucket.

What the user wrote reaches the scripts as variables, never as part of their text.
"""

from dataclasses import dataclass

from engines.base import Manifest
from engines.kubernetes.containers import container_security, resources
from engines.kubernetes.naming import without_empty
from engines.kubernetes.variables import Variable, from_secret
from spec.storage import S3, Git, GitMethod, GitSecret
from spec.workload import Replica

FETCHER = "fetch-"  # what the names of these containers begin with
KEYS = "/etc/trainyard-git"  # where the Secret with an ssh key is mounted
SSH_KEY = "ssh"  # the key of the Secret, as Run:ai has it

#: Starts from nothing, for a try that was cut short leaves pieces. The folder is root's: whoever
#: else runs git has to say where the repository is, for git suspects a trap in one that it finds.
GIT_SCRIPT = """\
set -eu
export HOME="${TMPDIR:-/tmp}" GIT_TERMINAL_PROMPT=0
rm -rf -- "$TARGET"/..?* "$TARGET"/.[!.]* "$TARGET"/*
if [ -n "${SSH_KEY_FILE:-}" ]; then
  umask 077
  cp "$SSH_KEY_FILE" "$HOME/key"
  export GIT_SSH_COMMAND="ssh -i $HOME/key -o StrictHostKeyChecking=accept-new \\
-o UserKnownHostsFile=$HOME/known_hosts"
  umask 022
fi
helper='!f() { printf "username=%s\\npassword=%s\\n" "$GIT_USER" "$GIT_PASSWORD"; }; f'
[ -n "${GIT_PASSWORD:-}" ] || helper=
git -c credential.helper="$helper" clone --quiet ${BRANCH:+--branch "$BRANCH"} \\
  -- "$REPOSITORY" "$TARGET"
if [ -n "${REVISION:-}" ]; then
  git --git-dir="$TARGET/.git" --work-tree="$TARGET" -c credential.helper="$helper" \\
    -c advice.detachedHead=false checkout --quiet "$REVISION"
fi
"""


@dataclass(frozen=True)
class Images:
    """What fetches data: one image with a shell and git, one with the AWS command line."""

    git: str = "docker.io/alpine/git:2.47.2"
    s3: str = "docker.io/amazon/aws-cli:2.27.9"


def fetchers(replica: Replica, images: Images) -> list[Manifest]:
    storage = replica.storage
    made = [_git(replica, f"git-{i}", git, images.git) for i, git in enumerate(storage.git)]
    return made + [_s3(replica, f"s3-{i}", s3, images.s3) for i, s3 in enumerate(storage.s3)]


def key_volumes(replica: Replica) -> list[Manifest]:
    """The Secrets with ssh keys. Readable by all in the pod: ssh gets a copy of its own."""
    return [
        {
            "name": f"git-{number}-key",
            "secret": {
                "secretName": git.secret_ref.name,
                "items": [{"key": SSH_KEY, "path": SSH_KEY}],
                "defaultMode": 0o444,
            },
        }
        for number, git in enumerate(replica.storage.git)
        if git.secret_ref and git.secret_ref.authentication_method is GitMethod.SSH_KEY
    ]


def _fetcher(replica: Replica, name: str, image: str, path: str) -> Manifest:
    """Asks for the CPU and memory of the program: the pod then needs no more than without it. What
    it printed last is kept with its exit code, for that is why it failed."""
    made = {
        "name": f"{FETCHER}{name}",
        "image": image,
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "resources": resources(replica.compute.without_devices),
        "securityContext": container_security(replica.security),
        "volumeMounts": [{"name": name, "mountPath": path}],
    }
    return without_empty(made)


def _git(replica: Replica, name: str, git: Git, image: str) -> Manifest:
    made = _fetcher(replica, name, image, git.path)
    told = {"REPOSITORY": git.repository, "TARGET": git.path}
    told |= {"BRANCH": git.branch or "", "REVISION": git.revision or ""}
    env: list[Variable] = [{"name": key, "value": value} for key, value in told.items() if value]
    if git.secret_ref:
        env += _access(git.secret_ref)
        if git.secret_ref.authentication_method is GitMethod.SSH_KEY:
            made["volumeMounts"].append(
                {"name": f"{name}-key", "mountPath": KEYS, "readOnly": True}
            )
    return made | {"command": ["/bin/sh", "-c", GIT_SCRIPT], "env": env}


def _access(secret: GitSecret) -> list[Variable]:
    if secret.authentication_method is GitMethod.SSH_KEY:
        return [{"name": "SSH_KEY_FILE", "value": f"{KEYS}/{SSH_KEY}"}]
    return [
        from_secret("GIT_USER", secret.name, secret.secret_key_of_user),
        from_secret("GIT_PASSWORD", secret.name, secret.secret_key_of_password),
    ]


def _s3(replica: Replica, name: str, s3: S3, image: str) -> Manifest:
    arguments = ["s3", "sync", "--no-progress", f"s3://{s3.bucket}", s3.path]
    arguments += [f"--endpoint-url={s3.url}"] if s3.url else []
    env: list[Variable] = [{"name": "HOME", "value": "/tmp"}]  # noqa: S108 -- of the container
    if s3.access_key_secret:
        key, word = s3.secret_key_of_access_key_id, s3.secret_key_of_secret_key
        env.append(from_secret("AWS_ACCESS_KEY_ID", s3.access_key_secret, key))
        env.append(from_secret("AWS_SECRET_ACCESS_KEY", s3.access_key_secret, word))
    else:
        arguments.append("--no-sign-request")
    made = _fetcher(replica, name, image, s3.path)
    return made | {"command": ["aws"], "args": arguments, "env": env}
