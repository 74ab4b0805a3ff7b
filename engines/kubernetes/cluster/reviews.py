"""Ask the API server what our account may do."""

from engines.kubernetes.client.api import Api
from engines.kubernetes.cluster.rbac import Right

REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"


def refused_verbs(api: Api, right: Right) -> list[str]:
    """The verbs of a permission that are not allowed."""
    return [verb for verb in right.verbs if not is_allowed(api, right, verb)]


def is_allowed(api: Api, right: Right, verb: str) -> bool:
    """Whether a verb is allowed in every namespace, since projects' namespaces are created as
    needed."""
    resource, _, subresource = right.resource.partition("/")
    wanted = {"group": right.group, "resource": resource, "subresource": subresource, "verb": verb}
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": wanted},
    }
    return bool(api.create(REVIEWS, review)["status"]["allowed"])
