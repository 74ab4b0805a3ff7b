"""Explain why an API server does not answer, or accepts nothing, and what to do about it. Pure.

The words of TLS libraries follow in brackets, for those who know them.
"""

import errno
import re
import ssl
from collections.abc import Iterator
from dataclasses import replace
from http.client import RemoteDisconnected

from urllib3.connectionpool import HTTPConnectionPool
from urllib3.exceptions import (
    ConnectTimeoutError,
    LocationValueError,
    MaxRetryError,
    NameResolutionError,
    ReadTimeoutError,
)

from spec.phases import Reason
from spec.problems.causes import Cause, CauseKind

#: OpenSSL's codes: X509_V_ERR_… in x509_vfy.h.
NOT_YET = 9
EXPIRED = 10
OTHER_HOST = 62
OTHER_IP = 64
NO_TLS = re.compile("WRONG_VERSION_NUMBER|RECORD_LAYER_FAILURE|HTTP_REQUEST")
NO_CA = re.compile("NO_CERTIFICATE_OR_CRL_FOUND|NO_START_LINE|BAD_BASE64|NOT_ENOUGH_DATA")
NO_CLIENT = re.compile("ALERT_(?:.*CERTIFICATE|UNKNOWN_CA|.*ACCESS_DENIED)")
CHECK_SERVER = "Check whether it is running, and whether Trainyard can reach that address."
NOT_AN_API_SERVER = (
    "What answered is not a Kubernetes API server, or its answer was cut off. Check the server in "
    "the kubeconfig: https, its name, and its port."
)
WEBHOOK = re.compile(r'failed calling (?:admission )?webhook "(?P<name>[^"]+)"')
TERMINATING = re.compile(
    r"unable to create new content in namespace (?P<name>\S+) because it is being terminated"
)
RETRYING = "Retrying every few seconds."
Explanation = tuple[str, str]  # what is wrong, and what to do


def explain_outage(error: Exception) -> str:
    """``The API server at 10.0.0.1:6443 does not answer: nothing listens there. Look whether …``"""
    inside = list(_nested_errors(error))
    if type(error) is not LocationValueError and isinstance(error, ValueError):
        return NOT_AN_API_SERVER
    place = _server_address(error)
    tls = next((one for one in inside if isinstance(one, ssl.SSLError)), None)
    what, todo = _explain_tls(tls) if tls else _explain_network(inside, error)
    return f"The API server{f' at {place}' if place else ''} {what}. {todo}"


def refusing_server_cause(said: str) -> Cause:
    """The cause of waiting for a server that answers with an error; ``said`` is its message."""
    if cause := webhook_cause(said) or ending_namespace_cause(said):
        return replace(cause, todo=f"{RETRYING} {cause.todo}")
    title = "The cluster does not accept it at the moment"
    todo = f"{RETRYING} If this persists, ask the cluster's administrator."
    return _cluster_cause(title, todo, said)


def webhook_cause(said: str) -> Cause | None:
    """The cause if an admission webhook does not answer, since the API server then accepts no
    object of its kind. An operator's webhook is part of the operator."""
    match = WEBHOOK.search(said)
    if match is None:
        return None
    whose = " It is part of a Kubeflow operator." if "kubeflow.org" in match["name"] else ""
    todo = f"Nothing gets past it until it runs again: ask the cluster's administrator.{whose}"
    title = f"The admission webhook {match['name']} does not answer"
    return _cluster_cause(title, todo, said)


def ending_namespace_cause(said: str) -> Cause | None:
    """The cause if the namespace is being deleted. That is no fault of the cluster's."""
    match = TERMINATING.search(said)
    if match is None:
        return None
    title = f"The namespace {match['name']} is being deleted"
    todo = (
        "It is created again once it is gone. If it stays, the conditions of the namespace say "
        "what holds it: ask the cluster's administrator."
    )
    return Cause(CauseKind.OTHER, title, todo, said=said, precise_reason=Reason.CLUSTER_UNAVAILABLE)


def _cluster_cause(title: str, todo: str, said: str) -> Cause:
    return Cause(
        CauseKind.OPERATOR, title, todo, said=said, precise_reason=Reason.CLUSTER_UNAVAILABLE
    )


def _nested_errors(error: BaseException) -> Iterator[BaseException]:
    """The error and all errors inside it; the client library wraps an error several times."""
    yield error
    for inner in (getattr(error, "reason", None), error.__cause__, *error.args):
        if isinstance(inner, BaseException) and inner is not error:
            yield from _nested_errors(inner)


def _server_address(error: Exception) -> str:
    pool = error.pool if isinstance(error, MaxRetryError | ReadTimeoutError) else None
    return f"{pool.host}:{pool.port}" if isinstance(pool, HTTPConnectionPool) else ""


def _explain_tls(error: ssl.SSLError) -> Explanation:
    if isinstance(error, ssl.SSLCertVerificationError):
        what, todo = _explain_certificate(error.verify_code)
        return f"{what} ({error.verify_message.rstrip('.')})", todo
    code = str(getattr(error, "reason", None) or error)
    if NO_TLS.search(code):
        what = "does not speak TLS"
        todo = "Check the server in the kubeconfig: its name and its port."
    elif NO_CA.search(code):
        what = "cannot be reached: the CA in the kubeconfig is not a certificate"
        todo = "Check certificate-authority-data there."
    elif NO_CLIENT.search(code):
        what = "does not accept the client certificate"
        todo = "If it expired or belongs to another cluster, replace the kubeconfig."
    else:
        what = "closed the encrypted connection"
        todo = CHECK_SERVER
    said = re.sub(r"^\[.*?\] | ?\(_ssl\.c:\d+\)", "", str(error.args[-1]))
    return f"{what} ({said})", todo


def _explain_certificate(code: int) -> Explanation:
    if code in {OTHER_HOST, OTHER_IP}:
        return "has a certificate for other names", (
            "In the kubeconfig, use an address that the certificate names as the server, or have "
            "this one added to the certificate."
        )
    if code in {NOT_YET, EXPIRED}:
        todo = "Have it renewed, and check the clocks on both sides."
        return f"has a certificate that {'ended' if code == EXPIRED else 'is not valid yet'}", todo
    return "has a certificate that the kubeconfig's CA did not sign", (
        "Check certificate-authority-data in the kubeconfig: it has to be the CA of this cluster. "
        "A proxy that answers instead of the server looks the same."
    )


def _explain_network(inside: list[BaseException], error: Exception) -> Explanation:
    numbers = {one.errno for one in inside if isinstance(one, OSError)}

    def are(*kinds: type[BaseException]) -> bool:
        return any(isinstance(one, kinds) for one in inside)

    if are(LocationValueError):
        return "has no address", "Write the server in the kubeconfig as https://host:6443."
    if are(NameResolutionError):
        return "does not answer: its name could not be resolved", (
            "Check the server in the kubeconfig, and whether Trainyard's machine resolves the name."
        )
    if are(ConnectionRefusedError):
        return "does not answer: nothing listens there", CHECK_SERVER
    if are(ConnectTimeoutError):
        todo = "A firewall may be dropping the packets. " + CHECK_SERVER
        return "does not answer: the connection timed out", todo
    if numbers & {errno.EHOSTUNREACH, errno.ENETUNREACH}:
        return "does not answer: no route to it", CHECK_SERVER
    if are(ReadTimeoutError, TimeoutError):
        return (
            "does not answer: it accepted the request but sent no response"
        ), "Check its load and health."
    if are(RemoteDisconnected, ConnectionResetError):
        return "does not answer: it closes the connection", CHECK_SERVER
    said = re.sub(r"^\w+\(.*?\): ", "", str(inside[-1])).rstrip(".")
    return f"does not answer: {said}", CHECK_SERVER
