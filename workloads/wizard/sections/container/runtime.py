"""Section: user and groups, image pulls, capabilities, and the pods to delete at the end."""

from collections.abc import Iterator

from core.forms.field import Cell, Input
from spec.parts.environment import CAPABILITIES, PullPolicy
from spec.workload import DEFAULT_SSH_PATH, CleanPodPolicy
from workloads.launch import registry_credentials
from workloads.plan import Plan
from workloads.wizard.sections.base import (
    FOLD,
    Question,
    ReviewLine,
    Section,
    reviewed_replica,
    reviewed_spec,
)

CREDENTIAL = "credential"
IF_MODIFIABLE = "Only if the environment has custom IDs and lets workloads modify them."
WHICH_PODS = {
    CleanPodPolicy.RUNNING: "Those still running",
    CleanPodPolicy.ALL: "All",
    CleanPodPolicy.NONE: "None",
}


def review(plan: Plan, role: str) -> Iterator[ReviewLine]:
    yield from (line for line in _replica_lines(plan, role) if line[1])
    spec = reviewed_spec(plan)
    if role == "master":
        return
    if plan.project and plan.cluster:
        credentials = registry_credentials(spec, plan.project, on=plan.cluster, by=plan.by)
        if names := ", ".join(it.name for it in credentials):
            yield "Image pull credentials", names, ""
    if spec.clean_pod_policy:
        yield "Pods to delete at the end", WHICH_PODS[spec.clean_pod_policy], ""
    if spec.ssh_auth_mount_path != DEFAULT_SSH_PATH:
        yield "SSH auth mount path", spec.ssh_auth_mount_path, "sshAuthMountPath"


def _replica_lines(plan: Plan, role: str) -> Iterator[ReviewLine]:
    replica = reviewed_replica(plan, role)
    secrets = ", ".join(it.name for it in replica.image_pull_secrets if not it.credential)
    if replica.image_pull_policy is not PullPolicy.IF_NOT_PRESENT:
        yield "Image pull policy", replica.image_pull_policy.label, f"{role}.imagePullPolicy"
    yield "Image pull secrets", secrets, f"{role}.imagePullSecrets"
    security = replica.security
    ids = (
        ("UID", security.run_as_uid),
        ("GID", security.run_as_gid),
        ("groups", security.supplemental_groups or None),
    )
    given = ", ".join(f"{name} {value}" for name, value in ids if value is not None)
    yield "Runs as", given, f"{role}.security"
    yield "Linux capabilities", ", ".join(security.capabilities), f"{role}.security"


RUNTIME = Section(
    "runtime",
    "Runtime settings",
    template=FOLD,
    replica=(
        Question("security.runAsUid", "User ID (UID)", Input.WHOLE, IF_MODIFIABLE),
        Question("security.runAsGid", "Group ID (GID)", Input.WHOLE, IF_MODIFIABLE),
        Question(
            "security.supplementalGroups",
            "Supplementary groups",
            hint="Numbers, separated by commas. Same condition as above.",
        ),
        Question(
            "imagePullPolicy",
            "Image pull policy",
            Input.SELECT,
            options=(("", "The environment's"), *((it, it.label) for it in PullPolicy)),
        ),
        Question(
            "imagePullSecrets",
            "Image pull secrets",
            Input.ITEMS,
            "Secrets in the project's namespace with registry credentials.",
            add="IMAGE PULL SECRET",
            cells=(Cell("name", "Secret", required=True, placeholder="registry"),),
            mark=((CREDENTIAL, False),),
        ),
        Question(
            "imagePullSecrets",
            "Image pull credentials",
            Input.ITEMS,
            "Docker registries and NGC API keys. Those of the image's registry are applied "
            "automatically.",
            add="IMAGE PULL CREDENTIAL",
            alias="imagePullCredentials",
            cells=(
                Cell(
                    "name",
                    "Credential",
                    Input.SELECT,
                    options=(("", "Select a credential"),),
                    choices="registries",
                    required=True,
                    missing="cannot be used here",
                ),
            ),
            mark=((CREDENTIAL, True),),
        ),
        Question(
            "security.capabilities",
            "Linux capabilities",
            Input.ITEMS,
            "Replace the ones the environment adds.",
            add="CAPABILITY",
            cells=(
                Cell(
                    "",
                    "Capability",
                    Input.SELECT,
                    options=(("", "Select a capability"), *((it, it) for it in CAPABILITIES)),
                ),
            ),
        ),
    ),
    once=(
        Question(
            "cleanPodPolicy",
            "Pods to delete at the end",
            Input.SELECT,
            hint="Finished pods that are not deleted keep their logs on the cluster too.",
            options=(
                ("", WHICH_PODS[CleanPodPolicy.RUNNING]),
                (CleanPodPolicy.ALL, WHICH_PODS[CleanPodPolicy.ALL]),
                (CleanPodPolicy.NONE, WHICH_PODS[CleanPodPolicy.NONE]),
            ),
        ),
        Question(
            "sshAuthMountPath",
            "SSH auth mount path",
            hint="Where the launcher and the workers find their SSH keys.",
            placeholder=DEFAULT_SSH_PATH,
        ),
    ),
    review=review,
)
