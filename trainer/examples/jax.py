"""A small network for handwritten digits in JAX. Each batch is one array over the devices of all
ranks, so the compiled step sums the gradients over them."""

import os
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from trainer.examples import digits
from trainer.record.metrics import report, say

Step = Callable[[Any, Any, Any], tuple[Any, Any, Any]]


def main(argv: Sequence[str]) -> None:
    """Train on the digits, as the rank that JAX's variables name."""
    flags = digits.parse_flags("jax", argv)
    jax: Any = import_module("jax")
    rank = int(os.environ.get("PROCESS_ID", "0"))
    ranks = int(os.environ.get("NUM_PROCESSES", "1"))
    if ranks > 1:
        address = f"{os.environ['COORDINATOR_ADDRESS']}:{os.environ['COORDINATOR_PORT']}"
        jax.distributed.initialize(address, num_processes=ranks, process_id=rank)
    say(f"Rank {rank} of {ranks}, JAX {jax.__version__}, {jax.device_count()} devices")
    train, test = digits.load(flags.seed)
    mesh = jax.make_mesh((jax.device_count(),), ("ranks",))
    replicated = _sharding(jax, mesh)
    divided = _sharding(jax, mesh, "ranks")
    network = jax.device_put(digits.first_weights(flags.seed), replicated)
    learn, measure_accuracy = _compile_functions(jax, flags.lr)
    for step, batch in digits.batches(train, flags, rank, ranks):
        images = jax.make_array_from_process_local_data(divided, batch.images)
        labels = jax.make_array_from_process_local_data(divided, batch.labels)
        network, loss, accuracy = learn(network, images, labels)
        if step % flags.log_interval == 0 and rank == 0:
            report(step=step, loss=float(loss), accuracy=float(accuracy))
    weights = [jax.device_get(weight) for weight in network]
    test_accuracy = float(measure_accuracy(weights, test.images, test.labels))
    if rank == 0:
        say(f"Test accuracy: {test_accuracy:.4f}")


def _sharding(jax: Any, mesh: Any, *axes: str) -> Any:
    return jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(*axes))


def _compile_functions(jax: Any, lr: float) -> tuple[Step, Callable[[Any, Any, Any], Any]]:
    """Compile two functions: a step of training, and the accuracy of the network on a test set."""

    def scores(network: Any, images: Any) -> Any:
        first, bias, second, last = network
        return jax.nn.relu(images @ first + bias) @ second + last

    def loss_of(network: Any, images: Any, labels: Any) -> tuple[Any, Any]:
        logits = scores(network, images)
        losses = -jax.nn.log_softmax(logits) * jax.nn.one_hot(labels, digits.CLASSES)
        return losses.sum(axis=1).mean(), (logits.argmax(axis=1) == labels).mean()

    def learn(network: Any, images: Any, labels: Any) -> tuple[Any, Any, Any]:
        gradients_of = jax.value_and_grad(loss_of, has_aux=True)
        (loss, accuracy), gradients = gradients_of(network, images, labels)
        updated = [
            weight - lr * gradient for weight, gradient in zip(network, gradients, strict=True)
        ]
        return updated, loss, accuracy

    def measure_accuracy(network: Any, images: Any, labels: Any) -> Any:
        return (scores(network, images).argmax(axis=1) == labels).mean()

    return jax.jit(learn), measure_accuracy
