"""A small network for handwritten digits in TensorFlow. MultiWorkerMirroredStrategy reads TF_CONFIG
and sums the gradients of all ranks."""

import json
import os
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from trainer.examples import digits
from trainer.record.metrics import report, say


def main(argv: Sequence[str]) -> None:
    """Train on the digits, as the rank that ``TF_CONFIG`` describes."""
    flags = digits.flags("tensorflow", argv)
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")  # nothing below an error
    os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")  # without a note about oneDNN
    tf: Any = import_module("tensorflow")
    rank, ranks = _place(os.environ.get("TF_CONFIG", ""))
    # The ranks meet here, so it must come before anything else that TensorFlow does.
    meet = tf.distribute.MultiWorkerMirroredStrategy if ranks > 1 else tf.distribute.get_strategy
    strategy = meet()
    say(f"Rank {rank} of {ranks}, TensorFlow {tf.__version__}")
    train, test = digits.load(flags.seed)
    with strategy.scope():
        once = tf.VariableAggregation.ONLY_FIRST_REPLICA
        network = [tf.Variable(it, aggregation=once) for it in digits.weights(flags.seed)]
    learn = _learning(tf, strategy, network, flags.lr)
    for step, batch in digits.batches(train, flags, rank, ranks):
        loss, accuracy = learn(tf.constant(batch.images), tf.constant(batch.labels))
        if step % flags.log_interval == 0 and rank == 0:
            report(step=step, loss=float(loss), accuracy=float(accuracy))
    if rank == 0:
        logits = _scores(tf, [it.read_value() for it in network], test.images)
        right = tf.reduce_mean(tf.cast(tf.argmax(logits, 1, tf.int32) == test.labels, tf.float32))
        say(f"Test accuracy: {float(right):.4f}")


def _place(config: str) -> tuple[int, int]:
    """Return this rank's number and how many there are. The chief is rank 0, or worker 0 without
    one."""
    parsed = json.loads(config or "{}")
    cluster = parsed.get("cluster", {})
    task = parsed.get("task", {})
    chiefs, workers = (len(cluster.get(kind, ())) for kind in ("chief", "worker"))
    before = chiefs if task.get("type") == "worker" else 0
    return before + int(task.get("index", 0)), max(chiefs + workers, 1)


def _scores(tf: Any, network: Sequence[Any], images: Any) -> Any:
    first, bias, second, last = network
    return tf.nn.relu(images @ first + bias) @ second + last


def _learning(
    tf: Any, strategy: Any, network: Sequence[Any], lr: float
) -> Callable[[Any, Any], tuple[Any, Any]]:
    """Compile a step of training. It returns the means of loss and accuracy over all ranks."""

    def replica(images: Any, labels: Any) -> tuple[Any, Any]:
        with tf.GradientTape() as tape:
            logits = _scores(tf, network, images)
            wrong = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
            loss = tf.reduce_mean(wrong)
        mean = tf.distribute.ReduceOp.MEAN
        everyone = tf.distribute.get_replica_context()
        gradients = everyone.all_reduce(mean, tape.gradient(loss, network))
        for each, by in zip(network, gradients, strict=True):
            each.assign_sub(lr * by)
        right = tf.reduce_mean(tf.cast(tf.argmax(logits, 1, tf.int32) == labels, tf.float32))
        means = everyone.all_reduce(mean, [loss, right])
        return means[0], means[1]

    def learn(images: Any, labels: Any) -> tuple[Any, Any]:
        means = strategy.run(replica, args=(images, labels))
        loss, right = (strategy.experimental_local_results(it)[0] for it in means)
        return loss, right

    compiled: Callable[[Any, Any], tuple[Any, Any]] = tf.function(learn)
    return compiled
