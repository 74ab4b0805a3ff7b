"""Why an API server gives no answer, in words that people act on. Pure.

What TLS libraries say stands behind in brackets, for whoever knows them.
"""

import errno
import re
import ssl
from collections.abc import Iterator
from http.client import RemoteDisconnected

from urllib3.connectionpool import HTTPConnectionPool
from urllib3.exceptions import (
    ConnectTimeoutError,
    LocationValueError,
    MaxRetryError,
    NameResolutionError,
    ReadTimeoutError,
)

#: Of OpenSSL, as X509_V_ERR_… in its x509_vfy.h.
NOT_YET, EXPIRED, OTHER_HOST, OTHER_IP = 9, 10, 62, 64
NO_TLS = re.compile("WRONG_VERSION_NUMBER|RECORD_LAYER_FAILURE|HTTP_REQUEST")
NO_CA = re.compile("NO_CERTIFICATE_OR_CRL_FOUND|NO_START_LINE|BAD_BASE64|NOT_ENOUGH_DATA")
NO_CLIENT = re.compile("ALERT_(?:.*CERTIFICATE|UNKNOWN_CA|.*ACCESS_DENIED)")
LOOK = "Look whether it runs, and whether Trainyard reaches that address."
STRANGE = (
    "What answers is not a Kubernetes API server, or its answer was cut off. Check the server in "
    "the kubeconfig: https, its name, and its port."
)
Told = tuple[str, str]  # what, and what to do


def words(error: Exception) -> str:
    """``The API server at 10.0.0.1:6443 does not answer: nothing listens there. Look whether …``"""
    inside = list(_inside(error))
    if type(error) is not LocationValueError and isinstance(error, ValueError):
        return STRANGE
    place = _place(error)
    tls = next((one for one in inside if isinstance(one, ssl.SSLError)), None)
    what, todo = _tls(tls) if tls else _network(inside, error)
    return f"The API server{f' at {place}' if place else ''} {what}. {todo}"


def _inside(error: BaseException) -> Iterator[BaseException]:
    """It, and what it is made of: the client library wraps an error several times."""
    yield error
    for inner in (getattr(error, "reason", None), error.__cause__, *error.args):
        if isinstance(inner, BaseException) and inner is not error:
            yield from _inside(inner)


def _place(error: Exception) -> str:
    pool = error.pool if isinstance(error, MaxRetryError | ReadTimeoutError) else None
    return f"{pool.host}:{pool.port}" if isinstance(pool, HTTPConnectionPool) else ""


def _tls(error: ssl.SSLError) -> Told:
    if isinstance(error, ssl.SSLCertVerificationError):
        what, todo = _certificate(error.verify_code)
        return f"{what} ({error.verify_message.rstrip('.')})", todo
    code = str(getattr(error, "reason", None) or error)
    if NO_TLS.search(code):
        what = "does not speak TLS"
        todo = "Check the server in the kubeconfig: its name and its port."
    elif NO_CA.search(code):
        what = "cannot be asked: the CA in the kubeconfig is no certificate"
        todo = "Check certificate-authority-data there."
    elif NO_CLIENT.search(code):
        what = "does not take the client certificate"
        todo = "If it ended or is of another cluster, replace the kubeconfig."
    else:
        what, todo = "ends the encrypted connection", LOOK
    said = re.sub(r"^\[.*?\] | ?\(_ssl\.c:\d+\)", "", str(error.args[-1]))
    return f"{what} ({said})", todo


def _certificate(code: int) -> Told:
    if code in {OTHER_HOST, OTHER_IP}:
        return "has a certificate for other names", (
            "Use an address that the certificate names as the server in the kubeconfig, or have "
            "this one added to the certificate."
        )
    if code in {NOT_YET, EXPIRED}:
        todo = "Have it renewed, and look whether the clocks of both sides are right."
        return f"has a certificate that {'ended' if code == EXPIRED else 'is not valid yet'}", todo
    return "has a certificate that the kubeconfig's CA did not sign", (
        "Check certificate-authority-data in the kubeconfig: it has to be the CA of this cluster. "
        "A proxy that answers in the server's stead looks the same."
    )


def _network(inside: list[BaseException], error: Exception) -> Told:
    numbers = {one.errno for one in inside if isinstance(one, OSError)}

    def are(*kinds: type[BaseException]) -> bool:
        return any(isinstance(one, kinds) for one in inside)

    if are(LocationValueError):
        return "has no address", "Write the server in the kubeconfig as https://host:6443."
    if are(NameResolutionError):
        return "does not answer: nobody knows the address of that name", (
            "Check the server in the kubeconfig, and whether Trainyard's machine resolves the name."
        )
    if are(ConnectionRefusedError):
        return "does not answer: nothing listens there", LOOK
    if are(ConnectTimeoutError):
        todo = "A firewall may drop what is sent. " + LOOK
        return "does not answer: it does not take the connection in time", todo
    if numbers & {errno.EHOSTUNREACH, errno.ENETUNREACH}:
        return "does not answer: no route leads there", LOOK
    if are(ReadTimeoutError, TimeoutError):
        return "does not answer: it took the request and is silent", "Look at its load and health."
    if are(RemoteDisconnected, ConnectionResetError):
        return "does not answer: it closes the connection", LOOK
    said = re.sub(r"^\w+\(.*?\): ", "", str(inside[-1])).rstrip(".")
    return f"does not answer: {said}", LOOK
