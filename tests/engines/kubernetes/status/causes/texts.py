"""Texts by which clusters say why a pod does not run, word for word, and the cause that people are
told. One table for all sources; numbers and names are made up or shortened."""

from dataclasses import dataclass

from spec.phases import Reason
from spec.problems.causes import CauseKind

K8S = "Kubernetes 1.37.2"
OLDER = "Kubernetes 1.29 to 1.34"
KAI = "KAI-Scheduler 0.12.0"
KUEUE = "Kueue 0.17.0"
CAPACITY = Reason.WAITING_FOR_CAPACITY
NO_VICTIMS = "preemption: 0/5 nodes are available: 5 Preemption is not helpful for scheduling."


@dataclass(frozen=True)
class Text:
    """What ``source`` says, and the cause in it."""

    source: str
    said: str
    title: str
    kind: CauseKind
    reason: Reason = Reason.NONE


#: The condition PodScheduled of pods.
SCHEDULERS = (
    Text(
        K8S,
        "0/5 nodes are available: 1 node(s) had untolerated taint(s), 4 Insufficient "
        f"nvidia.com/gpu. {NO_VICTIMS}",
        "Not enough free GPUs",
        CauseKind.CAPACITY,
        CAPACITY,
    ),
    Text(
        K8S,
        "0/5 nodes are available: 1 node(s) had untolerated taint(s), 1 node(s) were unschedulable,"
        " 3 Insufficient nvidia.com/gpu. preemption: 0/5 nodes are available: 1 Insufficient "
        "nvidia.com/gpu, 1 No preemption victims found for incoming pod, 3 Preemption is not "
        "helpful for scheduling.",
        "Not enough free GPUs",
        CauseKind.CAPACITY,
        CAPACITY,
    ),
    Text(
        K8S,
        "0/5 nodes are available: 1 node(s) had untolerated taint(s), 4 Insufficient cpu, 4 "
        f"Insufficient memory. {NO_VICTIMS}",
        "Not enough free CPU",
        CauseKind.CAPACITY,
        CAPACITY,
    ),
    Text(
        K8S,
        "0/5 nodes are available: 1 node(s) had untolerated taint(s), 4 node(s) didn't match Pod's "
        f"node affinity/selector. {NO_VICTIMS}",
        "No node is of the requested pool or type",
        CauseKind.NODES,
        CAPACITY,
    ),
    Text(
        K8S,
        "0/5 nodes are available: 1 node(s) had untolerated taint(s), 4 node(s) didn't match "
        f"PersistentVolume's node affinity. {NO_VICTIMS}",
        "Its volume cannot be used on these nodes",
        CauseKind.STORAGE,
    ),
    Text(
        K8S,
        "0/4 nodes are available: 1 node(s) had untolerated taint(s), 3 node(s) didn't have free "
        "ports for the requested pod ports. preemption: 0/4 nodes are available: 1 Preemption is "
        "not helpful for scheduling, 3 No preemption victims found for incoming pod.",
        "Its port on the host's network is in use on every node",
        CauseKind.NODES,
        CAPACITY,
    ),
    Text(
        K8S,
        '0/5 nodes are available: persistentvolumeclaim "nosuch" not found. not found',
        "The claim nosuch is missing",
        CauseKind.STORAGE,
        Reason.REFUSED,
    ),
    Text(
        K8S,
        "0/3 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 2 "
        "Insufficient nvidia.com/gpu. preemption: 0/3 nodes are available: 3 Preemption is not "
        "helpful for scheduling.",
        "Not enough free GPUs",
        CauseKind.CAPACITY,
        CAPACITY,
    ),
    Text(
        K8S,
        "0/3 nodes are available: 3 Insufficient nvidia.com/gpu. preemption: found a potential "
        "placement for pod on node fake-2, preempting 1 victims",
        "It preempts a pod of lower priority on the node fake-2",
        CauseKind.CAPACITY,
        CAPACITY,
    ),
    Text(
        f"{K8S} with PodGroups of its own",
        "pod group is unschedulable, 0/2 nodes are available: 2 Insufficient nvidia.com/gpu.",
        "Not enough free GPUs",
        CauseKind.CAPACITY,
        CAPACITY,
    ),
    Text(
        f"{K8S} with PodGroups of its own",
        "minCount (3) cannot be satisfied: 2 scheduled, 0 remaining, pod group preemption: No "
        "preemption victims found for incoming preemptor",
        "The scheduler has no room for all ranks",
        CauseKind.GANG,
        CAPACITY,
    ),
    Text(
        OLDER,
        "0/12 nodes are available: 1 node(s) had untolerated taint {dedicated: infra}, 11 node(s) "
        "had taint {a: b}, that the pod didn't tolerate.",
        "Nodes are reserved for others by the taint a",
        CauseKind.NODES,
        CAPACITY,
    ),
    Text(
        OLDER,
        "0/2 nodes are available: 2 node(s) had volume node affinity conflict.",
        "Its volume cannot be used on these nodes",
        CauseKind.STORAGE,
    ),
    Text(
        "a release to come",
        "0/2 nodes are available: 2 node(s) are at the wrong end of the hall.",
        "The scheduler finds no node: node(s) are at the wrong end of the hall",
        CauseKind.OTHER,
        CAPACITY,
    ),
    Text(
        "a release to come",
        "The hall is closed",
        "The scheduler finds no node: The hall is closed",
        CauseKind.OTHER,
        CAPACITY,
    ),
    Text(
        KAI,
        "PodSchedulingErrors: Resources were found for 3 pods while 4 are required for gang "
        "scheduling. Additional pods cannot be scheduled due to: no nodes with enough resources "
        "were found: 4 node(s) didn't have enough resources: GPUs..",
        "The scheduler has no room for all ranks",
        CauseKind.GANG,
        CAPACITY,
    ),
    Text(
        KAI,
        "no nodes with enough resources were found: 4 node(s) didn't have enough resources: GPUs.",
        "Not enough free GPUs",
        CauseKind.CAPACITY,
        CAPACITY,
    ),
    Text(
        KAI,
        "PodSchedulingErrors: Resources were not found for pod team-a/alone due to: no nodes with "
        "enough resources were found: 1 node is unschedulable. \n3 node(s) didn't have enough "
        "resources: CPU cores.",
        "Not enough free CPU",
        CauseKind.CAPACITY,
        CAPACITY,
    ),
    Text(
        KAI,
        "OverLimit: team-a quota has reached the allowable limit of GPUs. Limit is 1 GPUs, "
        "currently 0 GPUs allocated and workload requested 2 GPUs",
        "The project's limit is reached",
        CauseKind.QUOTA,
        Reason.WAITING_FOR_QUOTA,
    ),
    Text(
        KAI,
        "NonPreemptibleOverQuota: Non-preemptible workload is over quota. Workload requested 3 "
        "GPUs, but team-a quota is 2 GPUs, while 0 GPUs are already allocated for non-preemptible "
        "pods. Use a preemptible workload to go over quota.",
        "More than the project's quota, which a non-preemptible workload may not exceed",
        CauseKind.QUOTA,
        Reason.WAITING_FOR_QUOTA,
    ),
    Text(
        KAI,
        "PodSchedulingErrors: Resources were found for 0 pods while 2 are required for gang "
        "scheduling. Additional pods cannot be scheduled due to: Scheduling conditions were not "
        "met for pod team-a/demo-worker-0:\nMaxNodePoolResources: The pod team-a/demo-worker-0 "
        "requires GPU: 16, CPU: 0.1 (cores), memory: 0.1 (GB). Max GPU resources available in a "
        "single node in the default node-pool is topped at 4.\n",
        "It requests more GPU than any node has: 4 at most",
        CauseKind.NODES,
        CAPACITY,
    ),
    Text(
        KAI,
        "Scheduling conditions were not met for pod team-a/demo-worker-0:\nMaxNodePoolResources: "
        "The pod team-a/demo-worker-0 requires GPU: 0, CPU: 0.1 (cores), memory: 9000 (GB). Max "
        "memory resources available in a single node in the default node-pool is topped at 549.755 "
        "GB.\n",
        "It requests more memory than any node has: 549.755 GB at most",
        CauseKind.NODES,
        CAPACITY,
    ),
    Text(
        KAI,
        "Scheduling conditions were not met for pod team-a/demo-worker-0:\nMaxNodePoolResources: "
        "The pod team-a/demo-worker-0 requires GPU: 0, CPU: 0.1 (cores), memory: 0.1 (GB), "
        "example.com/fpga: 1000 (GB). No node in the default node-pool has example.com/fpga "
        "resources.\n",
        "No node has example.com/fpga",
        CauseKind.NODES,
        CAPACITY,
    ),
    Text(
        KAI,
        "Unable to schedule pod",
        "KAI does not start it and gives no reason",
        CauseKind.QUEUE,
        Reason.REFUSED,
    ),
)

FORBIDDEN = 'Error creating: pods "demo-abc" is forbidden: '
#: Events FailedCreate and FailedCreatePod of jobs.
REFUSED_PODS = (
    Text(
        K8S,
        FORBIDDEN + 'violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false '
        '(container "main" must set securityContext.allowPrivilegeEscalation=false), unrestricted '
        'capabilities (container "main" must set securityContext.capabilities.drop=["ALL"]), '
        'runAsNonRoot != true (pod or container "main" must set securityContext.runAsNonRoot=true)'
        ', seccompProfile (pod or container "main" must set securityContext.seccompProfile.type to '
        '"RuntimeDefault" or "Localhost")',
        "The namespace's Pod Security level restricted refuses its pods",
        CauseKind.REFUSED,
        Reason.REFUSED,
    ),
    Text(
        K8S,
        FORBIDDEN + 'violates PodSecurity "baseline:latest": host namespaces (hostNetwork=true)',
        "The namespace's Pod Security level baseline refuses its pods",
        CauseKind.REFUSED,
        Reason.REFUSED,
    ),
    Text(
        K8S,
        FORBIDDEN + "ValidatingAdmissionPolicy 'need-owner' with binding 'need-owner' denied "
        "request: every pod needs the label cost-center",
        "The policy need-owner refuses its pods: every pod needs the label cost-center",
        CauseKind.REFUSED,
        Reason.REFUSED,
    ),
    Text(
        K8S,
        "Error creating: policy 'add-sidecar' with binding 'add-sidecar' denied request: error "
        "applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs:"
        " .spec.initContainers[0].command",
        "The policy add-sidecar, which changes pods, fails: error applying patch: invalid "
        "ApplyConfiguration: may not mutate atomic arrays, maps or structs: "
        ".spec.initContainers[0].command",
        CauseKind.REFUSED,
        Reason.REFUSED,
    ),
    Text(
        K8S,
        FORBIDDEN + "failed quota: team: must specify limits.memory for: main",
        "The namespace's ResourceQuota team demands limits.memory for each container",
        CauseKind.REFUSED,
        Reason.REFUSED,
    ),
    Text(
        OLDER,
        FORBIDDEN + "failed quota: team: must specify limits.cpu,limits.memory",
        "The namespace's ResourceQuota team demands limits.cpu,limits.memory for each container",
        CauseKind.REFUSED,
        Reason.REFUSED,
    ),
    Text(
        K8S,
        FORBIDDEN + "exceeded quota: team, requested: requests.cpu=500m, used: requests.cpu=150m, "
        "limited: requests.cpu=200m",
        "The namespace's ResourceQuota team allows requests.cpu=200m, and requests.cpu=500m is "
        "requested",
        CauseKind.QUOTA,
        Reason.NEVER_FITS,
    ),
    Text(
        K8S,
        FORBIDDEN + "exceeded quota: team, requested: pods=1,requests.memory=1Gi, used: pods=3,"
        "requests.memory=3Gi, limited: pods=3,requests.memory=3500Mi",
        "The namespace's ResourceQuota team is used up",
        CauseKind.QUOTA,
        Reason.WAITING_FOR_QUOTA,
    ),
    Text(
        K8S,
        FORBIDDEN + "[minimum cpu usage per Container is 20m, but request is 10m, maximum memory "
        "usage per Container is 64Mi, but limit is 200M]",
        "The namespace's LimitRange allows no less than 20m cpu for each container and at most "
        "64Mi memory for each container",
        CauseKind.REFUSED,
        Reason.REFUSED,
    ),
    Text(
        K8S,
        FORBIDDEN + "maximum memory usage per Container is 64Mi.  No limit is specified",
        "The namespace's LimitRange allows at most 64Mi memory for each container",
        CauseKind.REFUSED,
        Reason.REFUSED,
    ),
    Text(
        K8S,
        'Error creating: Pod "demo-abc" is invalid: spec.containers[0].resources.requests: Invalid '
        'value: "500m": must be less than or equal to cpu limit of 100m',
        "Its cpu request of 500m is above the cpu limit of 100m",
        CauseKind.REFUSED,
        Reason.REFUSED,
    ),
    Text(
        K8S,
        FORBIDDEN + "unable to create new content in namespace team-a because it is being "
        "terminated",
        "The namespace team-a is being deleted",
        CauseKind.OTHER,
        Reason.CLUSTER_UNAVAILABLE,
    ),
    Text(
        K8S,
        FORBIDDEN + "no PriorityClass with name high was found",
        "The cluster has no PriorityClass high",
        CauseKind.REFUSED,
        Reason.REFUSED,
    ),
    Text(
        "Kyverno",
        'Error creating: admission webhook "validate.kyverno.svc" denied the request: no latest',
        "The admission webhook validate.kyverno.svc refuses its pods: no latest",
        CauseKind.REFUSED,
        Reason.REFUSED,
    ),
    Text(
        KUEUE,
        'Error creating: admission webhook "mpod.kb.io" denied the request: Job.batch "demo" not '
        "found",
        "Kueue does not know the job yet",
        CauseKind.OPERATOR,
    ),
    Text(
        KAI,
        FORBIDDEN + 'pod rejected: RuntimeClass "nvidia" not found',
        "The cluster has no RuntimeClass nvidia",
        CauseKind.REFUSED,
        Reason.REFUSED,
    ),
    Text(
        KAI,
        'Error creating: admission webhook "admission.kai-scheduler.svc" denied the request: '
        "attempting to create a pod team-a/demo with gpu sharing request, while GPU sharing is "
        "disabled",
        "The admission webhook admission.kai-scheduler.svc refuses its pods: attempting to create "
        "a pod team-a/demo with gpu sharing request, while GPU sharing is disabled",
        CauseKind.REFUSED,
        Reason.REFUSED,
    ),
    Text(
        KAI,
        'Error creating: Internal error occurred: failed calling webhook "admission.kai-scheduler'
        '.svc": failed to call webhook: Post "https://admission.kai-scheduler.svc:443/mutate": '
        "dial tcp 10.0.0.7:443: connect: no route to host",
        "The admission webhook admission.kai-scheduler.svc does not answer",
        CauseKind.OPERATOR,
        Reason.CLUSTER_UNAVAILABLE,
    ),
    Text(
        "a release to come",
        FORBIDDEN + "the moon is full",
        "The cluster refuses to create its pods: the moon is full",
        CauseKind.REFUSED,
        Reason.REFUSED,
    ),
)

#: Answers of the API server to the creation of a job that may be accepted later.
DELAYED_JOBS = (
    (
        403,
        Text(
            K8S,
            'jobs.batch "demo" is forbidden: exceeded quota: team, requested: count/jobs.batch=1, '
            "used: count/jobs.batch=3, limited: count/jobs.batch=3",
            "The namespace's ResourceQuota team is used up",
            CauseKind.QUOTA,
            Reason.WAITING_FOR_QUOTA,
        ),
    ),
    (
        500,
        Text(
            KUEUE,
            'Internal error occurred: failed calling webhook "mjob.kb.io": failed to call webhook: '
            'Post "https://kueue-webhook-service.kueue-system.svc:443/mutate-batch-v1-job?timeout='
            '10s": no endpoints available for service "kueue-webhook-service"',
            "The admission webhook mjob.kb.io does not answer",
            CauseKind.OPERATOR,
            Reason.CLUSTER_UNAVAILABLE,
        ),
    ),
    (
        500,
        Text(
            "a release to come",
            "the moon is full",
            "The cluster does not accept it at the moment",
            CauseKind.OPERATOR,
            Reason.CLUSTER_UNAVAILABLE,
        ),
    ),
)
#: Answers of the API server to the creation of a job that will not be accepted later either.
REFUSED_JOBS = (
    'jobs.batch "demo" is forbidden: exceeded quota: team, requested: count/jobs.batch=1, used: '
    "count/jobs.batch=0, limited: count/jobs.batch=0",
    "jobs.batch \"demo\" is forbidden: ValidatingAdmissionPolicy 'job-limits' with binding "
    "'job-limits' denied request: jobs must set ttlSecondsAfterFinished",
    'admission webhook "validator.trainjob.trainer.kubeflow.org" denied the request: '
    "spec.RuntimeRef: Invalid value",
)

GENERATE = 'failed to generate container "5d4c" spec: failed to generate spec: no command specified'
#: Reasons and messages of containers that wait on a node.
WAITING = (
    Text(
        K8S,
        'ErrImageNeverPull: Container image "local/nosuch:1" is not present with pull policy of '
        "Never",
        "The image train:1 cannot be pulled",
        CauseKind.IMAGE,
        Reason.IMAGE_UNKNOWN,
    ),
    Text(
        K8S,
        'InvalidImageName: Failed to apply default image tag "a b": couldn\'t parse image name "a '
        'b": invalid reference format',
        "The image train:1 cannot be pulled",
        CauseKind.IMAGE,
        Reason.IMAGE_UNKNOWN,
    ),
    Text(
        K8S,
        f"CreateContainerError: {GENERATE}",
        "The image train:1 has no command of its own",
        CauseKind.PROGRAM,
        Reason.COMMAND_NOT_FOUND,
    ),
    Text(
        K8S,
        'CreateContainerError: failed to reserve container name "main": name "main" is reserved',
        'The container cannot be created: failed to reserve container name "main": name "main" is '
        "reserved",
        CauseKind.PROGRAM,
        Reason.REFUSED,
    ),
    Text(
        K8S,
        'CreateContainerConfigError: secret "bucket" not found',
        "The Secret bucket is missing",
        CauseKind.MISSING,
        Reason.REFUSED,
    ),
    Text(
        K8S,
        "CreateContainerConfigError: container has runAsNonRoot and image will run as root",
        "The container cannot be created: container has runAsNonRoot and image will run as root",
        CauseKind.PROGRAM,
        Reason.REFUSED,
    ),
    Text(
        "a release to come",
        "MoonIsFull: wait for the new one",
        "The container waits: MoonIsFull: wait for the new one",
        CauseKind.OTHER,
    ),
)

#: Events of a claim whose volume is made when its first pod has a node.
CLAIMS = (
    (
        "ExternalProvisioning",
        Text(
            K8S,
            "Waiting for a volume to be created either by the external provisioner "
            "'example.com/none' or manually by the system administrator. If volume creation is "
            "delayed, please verify that the provisioner is running and correctly registered.",
            "A volume does not exist yet",
            CauseKind.STORAGE,
        ),
    ),
    (
        "ProvisioningFailed",
        Text(
            K8S,
            'storageclass.storage.k8s.io "fast" not found',
            "The cluster has no storage class fast",
            CauseKind.STORAGE,
            Reason.REFUSED,
        ),
    ),
)


@dataclass(frozen=True)
class GivingWay:
    """An event about the preemption of the pod demo-worker-0 of project team-a: kube-scheduler
    writes it about the pod, KAI about the pod group. ``words`` are what people are told."""

    source: str
    said: str
    words: str
    is_about_pod: bool = False


PREEMPTIONS = (
    GivingWay(
        K8S,
        "Preempted by pod 473f17fd-ee2d-4b42-bf02-82a2bb1fe725 on node fake-2",
        "was preempted by a pod of higher priority on node fake-2.",
        is_about_pod=True,
    ),
    GivingWay(
        OLDER,
        "Preempted by team-b/urgent on node gpu-1.example.com",
        "was preempted by a workload of another project on node gpu-1.example.com.",
        is_about_pod=True,
    ),
    GivingWay(
        OLDER,
        "Preempted by team-a/urgent on node n1",
        "was preempted by team-a/urgent on node n1.",
        is_about_pod=True,
    ),
    GivingWay(
        KAI,
        "Pod team-a/demo-worker-0 was preempted by higher priority workload team-b/pg-urgent-1",
        "was preempted by a higher priority workload of another project.",
    ),
    GivingWay(
        KAI,
        "Pod team-a/demo-worker-0 was preempted by workload team-b/pg-owner.\nteam-a uses <GPU: 4, "
        "CPU: 0.1 (cores), memory: 0.02 (GB)> with a quota of <GPU: 2, CPU: Unlimited (cores), "
        "memory: Unlimited (GB)>, fair-share of <GPU: 2, CPU: 0.1 (cores), memory: 0.02 (GB)> and "
        "queue priority of <100>.",
        "was preempted by a workload of another project.",
    ),
    GivingWay(
        KAI,
        "Pod team-a/demo-worker-0 was preempted and rescheduled due to bin packing (resource "
        "consolidation) procedure",
        "was preempted to be moved, so that free GPUs of a node come together.",
    ),
    GivingWay(
        KAI,
        "Workload doesn't have the minimum required number of pods (2), evicting remaining pod: "
        "team-a/demo-worker-0",
        "was evicted: Workload doesn't have the minimum required number of pods (2), evicting "
        "remaining pod: team-a/demo-worker-0.",
    ),
)
