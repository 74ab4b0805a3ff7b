"""A control plane for tests: etcd and kube-apiserver on loopback, without nodes."""

import base64
import secrets
import subprocess
from pathlib import Path

import yaml
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from tests.product import free_port
from tests.waiting import wait_for

PROGRAMS = ("etcd", "kube-apiserver", "kubectl")
READY_SECONDS = 60.0


class ControlPlane:
    """The control plane. ``assets`` has the programs, as ``KUBEBUILDER_ASSETS`` does; ``folder``
    gets its data, logs and kubeconfig."""

    def __init__(self, assets: Path, folder: Path) -> None:
        self.assets = assets
        self.folder = folder
        self.kubeconfig = folder / "kubeconfig"
        self.token = secrets.token_urlsafe(24)
        self.processes: list[subprocess.Popen[bytes]] = []

    def start(self) -> None:
        """Start it, and wait until the API server is ready. ``AssertionError`` says what is not,
        and where the logs are."""
        etcd = free_port()
        api = free_port()
        client = f"http://127.0.0.1:{etcd}"
        peer = f"http://127.0.0.1:{free_port()}"
        self._run(
            "etcd",
            f"--data-dir={self.folder / 'etcd'}",
            f"--listen-client-urls={client}",
            f"--advertise-client-urls={client}",
            f"--listen-peer-urls={peer}",
            "--unsafe-no-fsync",
        )
        self._run("kube-apiserver", f"--etcd-servers={client}", *self._flags(api))
        wait_for(self._has_certificate, READY_SECONDS, f"the API server; see {self.folder}")
        self._write_kubeconfig(api)
        wait_for(self._is_ready, READY_SECONDS, f"the API server; see {self.folder}", every=0.2)

    def stop(self) -> None:
        for process in reversed(self.processes):
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def apply(self, manifests: Path) -> None:
        """Apply CRDs, and wait until they are served. It is done server-side, because large CRDs
        exceed the annotation of a client-side apply."""
        self._kubectl("apply", "--server-side", "--validate=false", "-f", str(manifests))
        self._kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=60s")

    def _flags(self, port: int) -> list[str]:
        """Return the flags of the API server. It creates its own certificate, and accepts the token
        of this object."""
        tokens = self.folder / "tokens"
        key = self.folder / "accounts.key"
        tokens.write_text(f'{self.token},tester,tester,"system:masters"\n')
        key.write_bytes(
            rsa.generate_private_key(65537, 2048).private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.TraditionalOpenSSL,
                serialization.NoEncryption(),
            )
        )
        return [
            "--bind-address=127.0.0.1",
            f"--secure-port={port}",
            f"--cert-dir={self.folder / 'certificates'}",
            f"--token-auth-file={tokens}",
            "--authorization-mode=RBAC",
            f"--service-account-key-file={key}",
            f"--service-account-signing-key-file={key}",
            "--service-account-issuer=https://kubernetes.default.svc",
            "--service-cluster-ip-range=10.96.0.0/16",
            # This plugin would wait for the account of each namespace, which no controller creates
            # here.
            "--disable-admission-plugins=ServiceAccount",
        ]

    def _run(self, program: str, *flags: str) -> None:
        with (self.folder / f"{program}.log").open("wb") as log:
            self.processes.append(
                subprocess.Popen(
                    [str(self.assets / program), *flags],
                    cwd=self.folder,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                )
            )

    def _has_certificate(self) -> bool:
        dead = [str(process.args) for process in self.processes if process.poll() is not None]
        assert not dead, f"{dead} ended; see {self.folder}"
        return (self.folder / "certificates" / "apiserver.crt").exists()

    def _write_kubeconfig(self, port: int) -> None:
        authority = (self.folder / "certificates" / "apiserver.crt").read_bytes()
        cluster = {
            "server": f"https://127.0.0.1:{port}",
            "certificate-authority-data": base64.b64encode(authority).decode(),
        }
        self.kubeconfig.touch(mode=0o600)
        self.kubeconfig.write_text(
            yaml.safe_dump(
                {
                    "apiVersion": "v1",
                    "kind": "Config",
                    "clusters": [{"name": "test", "cluster": cluster}],
                    "users": [{"name": "test", "user": {"token": self.token}}],
                    "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}],
                    "current-context": "test",
                }
            )
        )

    def _is_ready(self) -> bool:
        return self._kubectl("get", "--raw", "/readyz", check=False) == "ok"

    def _kubectl(self, *arguments: str, check: bool = True) -> str:
        command = [str(self.assets / "kubectl"), f"--kubeconfig={self.kubeconfig}", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert not (check and done.returncode), f"kubectl {arguments[0]}: {done.stderr}"
        return done.stdout
