"""Documents as they were stored before they were whole, made whole with the defaults of that day.

The defaults stand here as they were in November 2026, so that the migrations of ``assets`` and
``workloads`` do the same whenever they run.
"""

REQUIRED = object()
#: Of each model: the wire name of a field, its default, and the model that it holds.
MODELS = {
    'WorkloadSpec': {
        'distributedFramework': (REQUIRED, ''),
        'architecture': ('workers_and_master', ''),
        'numWorkers': (1, ''),
        'minReplicas': (None, ''),
        'maxReplicas': (None, ''),
        'slotsPerWorker': (1, ''),
        'sshAuthMountPath': ('/root/.ssh', ''),
        'mpiLauncherCreationPolicy': (None, ''),
        'worker': (REQUIRED, 'Replica'),
        'master': (None, 'Replica'),
        'nodePools': ([], ''),
        'topology': (None, 'Topology'),
        'priorityClass': (None, ''),
        'preemptibility': (None, ''),
        'category': (None, ''),
        'relatedUrls': ([], 'RelatedUrl'),
        'backoffLimit': (6, ''),
        'terminationGracePeriodSeconds': (30, ''),
        'autoDeletionTimeAfterCompletionSeconds': (2592000, ''),
        'cleanPodPolicy': (None, ''),
        'terminateAfterPreemption': (False, ''),
    },
    'Environment': {
        'image': (REQUIRED, ''),
        'imagePullPolicy': ('IfNotPresent', ''),
        'command': (None, ''),
        'args': (None, ''),
        'workingDir': (None, ''),
        'environmentVariables': ([], 'EnvironmentVariable'),
        'connections': ([], 'Connection'),
        'security': ({}, 'Security'),
        'createHomeDir': (False, ''),
        'stdin': (False, ''),
        'tty': (False, ''),
    },
    'Compute': {
        'gpuDevicesRequest': (0, ''),
        'gpuRequestType': (None, ''),
        'gpuPortionRequest': (None, ''),
        'gpuPortionLimit': (None, ''),
        'gpuMemoryRequest': (None, ''),
        'gpuMemoryLimit': (None, ''),
        'cpuCoreRequest': (0.1, ''),
        'cpuCoreLimit': (None, ''),
        'cpuMemoryRequest': ('100M', ''),
        'cpuMemoryLimit': (None, ''),
        'largeShmRequest': (False, ''),
        'extendedResources': ([], 'ExtendedResource'),
    },
    'Replica': {
        'image': (REQUIRED, ''),
        'imagePullPolicy': ('IfNotPresent', ''),
        'command': (None, ''),
        'args': (None, ''),
        'workingDir': (None, ''),
        'environmentVariables': ([], 'EnvironmentVariable'),
        'connections': ([], 'Connection'),
        'security': ({}, 'Security'),
        'createHomeDir': (False, ''),
        'stdin': (False, ''),
        'tty': (False, ''),
        'compute': ({}, 'Compute'),
        'imagePullSecrets': ([], 'PullSecret'),
        'restartPolicy': (None, ''),
        'probes': ({}, 'Probes'),
        'storage': ({}, 'Storage'),
        'nodeType': (None, ''),
        'nodeAffinityRequired': (None, 'NodeAffinity'),
        'podAffinity': (None, 'PodAffinity'),
        'tolerations': ([], 'Toleration'),
        'labels': ([], 'Label'),
        'annotations': ([], 'Annotation'),
    },
    'Topology': {
        'name': (REQUIRED, ''),
        'required': (None, ''),
        'preferred': (None, ''),
    },
    'RelatedUrl': {
        'name': ('', ''),
        'url': (REQUIRED, ''),
        'type': (REQUIRED, ''),
    },
    'EnvironmentVariable': {
        'name': (REQUIRED, ''),
        'value': (None, ''),
        'secret': (None, 'KeyOf'),
        'configMap': (None, 'KeyOf'),
        'podFieldRef': (None, 'FieldRef'),
        'description': ('', ''),
    },
    'Connection': {
        'name': (REQUIRED, ''),
        'toolType': ('custom', ''),
        'connectionType': ('ExternalUrl', ''),
        'containerPort': (REQUIRED, ''),
        'nodePort': (None, ''),
        'externalUrl': (None, ''),
        'authorizationType': (None, ''),
        'authorizedUsers': ([], ''),
        'authorizedGroups': ([], ''),
    },
    'Security': {
        'uidGidSource': ('fromTheImage', ''),
        'runAsUid': (None, ''),
        'runAsGid': (None, ''),
        'supplementalGroups': (None, ''),
        'runAsNonRoot': (None, ''),
        'allowPrivilegeEscalation': (None, ''),
        'readOnlyRootFilesystem': (None, ''),
        'capabilities': ([], ''),
        'seccompProfileType': (None, ''),
        'hostIpc': (False, ''),
        'hostNetwork': (False, ''),
    },
    'ExtendedResource': {
        'resource': (REQUIRED, ''),
        'quantity': (REQUIRED, ''),
    },
    'PullSecret': {
        'name': (REQUIRED, ''),
    },
    'Probes': {
        'readiness': (None, 'Probe'),
        'liveness': (None, 'Probe'),
        'startup': (None, 'Probe'),
    },
    'Storage': {
        'pvc': ([], 'Pvc'),
        'nfs': ([], 'Nfs'),
        'hostPath': ([], 'HostPath'),
        's3': ([], 'S3'),
        'git': ([], 'Git'),
        'configMapVolume': ([], 'ConfigMapVolume'),
        'secretVolume': ([], 'SecretVolume'),
        'emptyDirVolume': ([], 'EmptyDirVolume'),
    },
    'NodeAffinity': {
        'nodeSelectorTerms': (REQUIRED, 'Term'),
    },
    'PodAffinity': {
        'type': (REQUIRED, ''),
        'key': (REQUIRED, ''),
    },
    'Toleration': {
        'name': ('', ''),
        'key': (REQUIRED, ''),
        'operator': ('Equal', ''),
        'value': (None, ''),
        'effect': ('Any', ''),
        'seconds': (None, ''),
    },
    'Label': {
        'name': (REQUIRED, ''),
        'value': ('', ''),
    },
    'Annotation': {
        'name': (REQUIRED, ''),
        'value': ('', ''),
    },
    'KeyOf': {
        'name': (REQUIRED, ''),
        'key': (REQUIRED, ''),
    },
    'FieldRef': {
        'path': (REQUIRED, ''),
    },
    'Probe': {
        'initialDelaySeconds': (None, ''),
        'periodSeconds': (None, ''),
        'timeoutSeconds': (None, ''),
        'successThreshold': (None, ''),
        'failureThreshold': (None, ''),
        'handler': (REQUIRED, 'Handler'),
    },
    'Pvc': {
        'name': ('', ''),
        'path': (REQUIRED, ''),
        'existingPvc': (False, ''),
        'claimName': (None, ''),
        'readOnly': (False, ''),
        'ephemeral': (False, ''),
        'claimInfo': (None, 'ClaimInfo'),
    },
    'Nfs': {
        'name': ('', ''),
        'server': (REQUIRED, ''),
        'path': (REQUIRED, ''),
        'mountPath': (REQUIRED, ''),
        'readOnly': (True, ''),
    },
    'HostPath': {
        'name': ('', ''),
        'path': (REQUIRED, ''),
        'mountPath': (REQUIRED, ''),
        'readOnly': (True, ''),
        'mountPropagation': ('None', ''),
    },
    'S3': {
        'name': ('', ''),
        'bucket': (REQUIRED, ''),
        'path': (REQUIRED, ''),
        'url': (None, ''),
        'accessKeySecret': (None, ''),
        'secretKeyOfAccessKeyId': ('AccessKeyId', ''),
        'secretKeyOfSecretKey': ('SecretKey', ''),
    },
    'Git': {
        'name': ('', ''),
        'repository': (REQUIRED, ''),
        'branch': (None, ''),
        'revision': (None, ''),
        'path': (REQUIRED, ''),
        'secretRef': (None, 'GitSecret'),
    },
    'ConfigMapVolume': {
        'name': ('', ''),
        'configMap': (REQUIRED, ''),
        'mountPath': (REQUIRED, ''),
        'subPath': (None, ''),
        'defaultMode': (None, ''),
    },
    'SecretVolume': {
        'name': ('', ''),
        'secret': (REQUIRED, ''),
        'mountPath': (REQUIRED, ''),
        'defaultMode': (None, ''),
    },
    'EmptyDirVolume': {
        'name': ('', ''),
        'path': (REQUIRED, ''),
        'medium': ('', ''),
        'sizeLimit': (None, ''),
    },
    'Term': {
        'matchExpressions': (REQUIRED, 'Expression'),
    },
    'Handler': {
        'httpGet': (REQUIRED, 'HttpGet'),
    },
    'ClaimInfo': {
        'size': (REQUIRED, ''),
        'storageClass': (None, ''),
        'accessModes': ({}, 'AccessModes'),
        'volumeMode': ('Filesystem', ''),
    },
    'GitSecret': {
        'name': (REQUIRED, ''),
        'authenticationMethod': ('password', ''),
        'secretKeyOfUser': ('username', ''),
        'secretKeyOfPassword': ('password', ''),
    },
    'Expression': {
        'key': (REQUIRED, ''),
        'operator': (REQUIRED, ''),
        'values': ([], ''),
    },
    'HttpGet': {
        'path': ('/', ''),
        'port': (REQUIRED, ''),
        'host': (None, ''),
        'scheme': ('HTTP', ''),
    },
    'AccessModes': {
        'readWriteOnce': (True, ''),
        'readOnlyMany': (False, ''),
        'readWriteMany': (False, ''),
    },
}
#: Of a workload only, where its framework is the one named.
OWNED = {
    'minReplicas': 'PyTorch',
    'maxReplicas': 'PyTorch',
    'slotsPerWorker': 'MPI',
    'sshAuthMountPath': 'MPI',
    'mpiLauncherCreationPolicy': 'MPI',
}
AT_ONCE = 500


def whole(document, model):
    """A document with every value that its model had."""
    filled = {}
    for key, (default, inner) in MODELS[model].items():
        if key in document:
            filled[key] = _inside(document[key], inner)
        elif default is not REQUIRED and OWNED.get(key) in (None, document.get('distributedFramework')):
            filled[key] = _inside(default, inner)
    return filled | {key: value for key, value in document.items() if key not in filled}


def _inside(value, model):
    if model and isinstance(value, dict):
        return whole(value, model)
    if isinstance(value, list):
        return [_inside(item, model) for item in value]
    return value


def fill(rows, model):
    """Every row of a historical model. What is no document stays as it is."""
    changed = []
    for row in rows.objects.only('spec_json').iterator(chunk_size=AT_ONCE):
        if isinstance(row.spec_json, dict):
            row.spec_json = whole(row.spec_json, model)
            changed.append(row)
        if len(changed) == AT_ONCE:
            rows.objects.bulk_update(changed, ['spec_json'])
            changed = []
    rows.objects.bulk_update(changed, ['spec_json'])
