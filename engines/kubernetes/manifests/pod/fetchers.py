"""Init containers that fetch data: from a Git repository or an S3 bucket.

Values from users reach the scripts only as variables, never as part of their text.
"""

from dataclasses import dataclass

from engines.base import Launch, Manifest
from engines.kubernetes.labels import USER_LINE
from engines.kubernetes.manifests.pod.access import SSH_KEY, SecretKeys, bucket_secret, git_secret
from engines.kubernetes.manifests.pod.container import container_security, resources
from engines.kubernetes.manifests.pod.env import Variable, from_secret
from engines.kubernetes.manifests.values import without_empty
from spec.data.credential import CredentialKind, credential_kind_for
from spec.data.storage import S3, Git
from spec.workload import Replica

FETCHER = "fetch-"  # start of these containers' names
KEYS = "/etc/trainyard-git"  # where the Secret with an ssh key is mounted
HOME = "/etc/trainyard-home"  # where ssh writes, because the image may be read-only

#: Starts from an empty folder, because an interrupted try leaves pieces. The folder belongs to
#: root, so git, run by another user, does not trust the repository it finds there and has to be
#: told where it is. ssh rejects a key without its final line break, which is easily lost when
#: pasting. If the Secret has no known hosts, the first key is trusted: each pod meets the host for
#: the first time. A password is for the server of the repository alone, and does not follow a
#: redirect to another. A server named by http:// is the same by https://, to which it usually
#: redirects. The option that names the server is left out without a password: an address by ssh may
#: hold a "=", at which git would cut the option. The checkout has the password as well, for filters
#: of git such as LFS fetch files then.
GIT_SCRIPT = """\
set -eu
export HOME="${TMPDIR:-/tmp}" GIT_TERMINAL_PROMPT=0
rm -rf -- "$TARGET"/..?* "$TARGET"/.[!.]* "$TARGET"/*
if [ -n "${SSH_KEY_FILE:-}" ]; then
  umask 077
  { cat "$SSH_KEY_FILE"; echo; } >"$HOME/key"
  check=accept-new
  if [ -n "${SSH_KNOWN_HOSTS+told}" ]; then
    check=yes
    printf '%s\\n' "$SSH_KNOWN_HOSTS" >"$HOME/known_hosts"
  fi
  export GIT_SSH_COMMAND="ssh -i $HOME/key -o IdentitiesOnly=yes -o BatchMode=yes \\
-o StrictHostKeyChecking=$check -o UserKnownHostsFile=$HOME/known_hosts -o LogLevel=ERROR"
  umask 022
fi
set --
if [ -n "${GIT_PASSWORD:-}" ]; then
  helper='!f() { printf "username=%s\\npassword=%s\\n" "$GIT_USER" "$GIT_PASSWORD"; }; f'
  path=${REPOSITORY#*://*/}
  server=${REPOSITORY%"/$path"}
  set -- -c "credential.$server.helper=$helper" -c "credential.https://${server#*://}.helper=$helper"
fi
git "$@" clone --quiet ${BRANCH:+--branch "$BRANCH"} -- "$REPOSITORY" "$TARGET"
if [ -n "${REVISION:-}" ]; then
  git "$@" --git-dir="$TARGET/.git" --work-tree="$TARGET" -c advice.detachedHead=false \\
    checkout --quiet "$REVISION"
fi
"""


@dataclass(frozen=True)
class Images:
    """Images of init containers: those that fetch data have a shell and git, or the AWS command
    line; the one that waits for other ranks has a shell and nslookup."""

    git: str = "docker.io/alpine/git:2.47.2"
    s3: str = "docker.io/amazon/aws-cli:2.27.9"
    shell: str = "docker.io/library/busybox:1.37.0"


def fetchers(launch: Launch, replica: Replica, role: str, images: Images) -> list[Manifest]:
    storage = replica.storage
    from_git = [
        _git_fetcher(replica, f"git-{n}", git, git_secret(launch, role, n, git), images.git)
        for n, git in enumerate(storage.git)
    ]
    return from_git + [
        _s3_fetcher(replica, f"s3-{n}", s3, bucket_secret(launch, role, n, s3), images.s3)
        for n, s3 in enumerate(storage.s3)
    ]


def ssh_volumes(launch: Launch, replica: Replica, role: str) -> list[Manifest]:
    """Volumes for ssh: Secrets with keys, readable by everyone in the pod, folders that ssh writes
    to, and ``git-passwd``, which names the user."""
    volumes: list[Manifest] = []
    for number, git in enumerate(replica.storage.git):
        access = git_secret(launch, role, number, git)
        if access is None or not access.by_ssh:
            continue
        items = [{"key": access.keys[0], "path": SSH_KEY}]
        kept = {"secretName": access.secret, "items": items, "defaultMode": 0o444}
        volumes.append({"name": f"git-{number}-key", "secret": kept})
        volumes.append({"name": f"git-{number}-home", "emptyDir": {"medium": "Memory"}})
    if passwd(replica):
        where = {"fieldPath": f"metadata.annotations['{USER_LINE}']"}
        file = {"items": [{"path": "passwd", "fieldRef": where}]}
        volumes.append({"name": "git-passwd", "downwardAPI": file})
    return volumes


def passwd(replica: Replica) -> dict[str, str]:
    """The annotation that becomes ``/etc/passwd`` for fetching by ssh, since the user in the spec
    may not exist in the image."""
    uid = replica.security.run_as_uid
    gid = replica.security.run_as_gid
    if not uid or not any(map(_is_by_ssh, replica.storage.git)):
        return {}
    return {USER_LINE: f"trainyard:x:{uid}:{gid or 0}::{HOME}:/bin/sh\n"}


def _is_by_ssh(git: Git) -> bool:
    if git.credential:
        return credential_kind_for("git", git.repository) is CredentialKind.SSH_KEY
    return git.key_secret is not None


def _fetcher(replica: Replica, name: str, image: str, path: str) -> Manifest:
    """A container that fetches data. It requests the program's CPU and memory, so the pod as a
    whole needs no more. Its last output is kept as the reason if it fails."""
    manifest = {
        "name": f"{FETCHER}{name}",
        "image": image,
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "resources": resources(replica.compute.without_devices),
        "securityContext": container_security(replica.security),
        "volumeMounts": [{"name": name, "mountPath": path}],
    }
    return without_empty(manifest)


def _git_fetcher(
    replica: Replica, name: str, git: Git, access: SecretKeys | None, image: str
) -> Manifest:
    fetcher = _fetcher(replica, name, image, git.path)
    values = {"REPOSITORY": git.repository, "TARGET": git.path}
    values |= {"BRANCH": git.branch or "", "REVISION": git.revision or ""}
    env: list[Variable] = [{"name": key, "value": value} for key, value in values.items() if value]
    if access and access.by_ssh:
        env.append({"name": "TMPDIR", "value": HOME})
        env.append({"name": "SSH_KEY_FILE", "value": f"{KEYS}/{SSH_KEY}"})
        if access.hosts:
            hosts = from_secret("SSH_KNOWN_HOSTS", access.secret, access.hosts, optional=True)
            env.append(hosts)
        fetcher["volumeMounts"] += _ssh_mounts(replica, name)
    elif access:
        user, password = access.keys
        env.append(from_secret("GIT_USER", access.secret, user))
        env.append(from_secret("GIT_PASSWORD", access.secret, password))
    return fetcher | {"command": ["/bin/sh", "-c", GIT_SCRIPT], "env": env}


def _ssh_mounts(replica: Replica, name: str) -> list[Manifest]:
    mounts: list[Manifest] = [
        {"name": f"{name}-key", "mountPath": KEYS, "readOnly": True},
        {"name": f"{name}-home", "mountPath": HOME},
    ]
    if passwd(replica):
        file = {"mountPath": "/etc/passwd", "subPath": "passwd", "readOnly": True}
        mounts.append({"name": "git-passwd", **file})
    return mounts


def _s3_fetcher(
    replica: Replica, name: str, s3: S3, access: SecretKeys | None, image: str
) -> Manifest:
    arguments = ["s3", "sync", "--no-progress", f"s3://{s3.bucket}", s3.path]
    arguments += [f"--endpoint-url={s3.url}"] if s3.url else []
    env: list[Variable] = [{"name": "HOME", "value": "/tmp"}]  # noqa: S108 -- of the container
    if access:
        key, word = access.keys
        env.append(from_secret("AWS_ACCESS_KEY_ID", access.secret, key))
        env.append(from_secret("AWS_SECRET_ACCESS_KEY", access.secret, word))
    else:
        arguments.append("--no-sign-request")
    fetcher = _fetcher(replica, name, image, s3.path)
    return fetcher | {"command": ["aws"], "args": arguments, "env": env}
