"""A connection to a cluster that is never asked."""

from clusters.kinds.kubernetes.settings import KubernetesSecret

#: Nothing listens at this address, and nothing connects to it: a manifest is rendered without the
#: cluster.
KUBECONFIG = KubernetesSecret(
    kubeconfig="""
current-context: none
contexts: [{name: none, context: {cluster: none, user: none}}]
users: [{name: none, user: {token: none}}]
clusters: [{name: none, cluster: {server: "https://127.0.0.1:1"}}]
"""
).model_dump_json()
