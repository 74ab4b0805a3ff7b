"""A bucket of a real S3 server (moto's), for ranks of this machine to fetch from."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from uuid import uuid4

import boto3
from moto import settings
from moto.core.authorization import ActionAuthenticatorMixin
from moto.server import ThreadedMotoServer


@dataclass(frozen=True)
class Store:
    """A server with the bucket ``sets``, and a key that may read it."""

    url: str
    access_key: str
    secret_key: str


@contextmanager
def store(objects: dict[str, bytes], host: str = "127.0.0.1") -> Iterator[Store]:
    """Run a server while the block runs. ``objects`` are public."""
    server = ThreadedMotoServer(ip_address=host, port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    url = f"http://{host}:{port}"
    words = {"endpoint_url": url, "region_name": "us-east-1"}
    words |= {"aws_access_key_id": "made", "aws_secret_access_key": "made"}
    s3 = boto3.client("s3", **words)
    iam = boto3.client("iam", **words)
    try:
        s3.create_bucket(Bucket="sets")
        for key, body in objects.items():
            s3.put_object(Bucket="sets", Key=key, Body=body, ACL="public-read")
        user = f"ada-{uuid4().hex}"
        iam.create_user(UserName=user)
        may = {"Effect": "Allow", "Action": "s3:*", "Resource": "*"}
        policy = json.dumps({"Version": "2012-10-17", "Statement": [may]})
        iam.put_user_policy(UserName=user, PolicyName="read", PolicyDocument=policy)
        made = iam.create_access_key(UserName=user)["AccessKey"]
        yield Store(url, made["AccessKeyId"], made["SecretAccessKey"])
    finally:
        for key in objects:  # the server keeps them for the next one in this process
            s3.delete_object(Bucket="sets", Key=key)
        server.stop()


@contextmanager
def asking_who() -> Iterator[None]:
    """Require that every call is signed by someone who may make it."""
    before = settings.INITIAL_NO_AUTH_ACTION_COUNT
    settings.INITIAL_NO_AUTH_ACTION_COUNT = 0
    ActionAuthenticatorMixin.request_count = 0
    try:
        yield
    finally:
        settings.INITIAL_NO_AUTH_ACTION_COUNT = before
