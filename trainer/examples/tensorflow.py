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
    flags = digits.parse_flags("tensorflow", argv)
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")  # nothing below an error
    os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")  # without a note about oneDNN
    tf: Any = import_module("tensorflow")
    rank, ranks = _rank_and_count(os.environ.get("TF_CONFIG", ""))
    # The ranks meet here, so it must come before anything else that TensorFlow does.
    meet = tf.distribute.MultiWorkerMirroredStrategy if ranks > 1 else tf.distribute.get_strategy
    strategy = meet()
    say(f"Rank {rank} of {ranks}, TensorFlow {tf.__version__}")
    train, test = digits.load(flags.seed)
    with strategy.scope():
        once = tf.VariableAggregation.ONLY_FIRST_REPLICA
        weights = digits.first_weights(flags.seed)
        network = [tf.Variable(weight, aggregation=once) for weight in weights]
    learn = _compile_step(tf, strategy, network, flags.lr)
    for step, batch in digits.batches(train, flags, rank, ranks):
        loss, accuracy = learn(tf.constant(batch.images), tf.constant(batch.labels))
        if step % flags.log_interval == 0 and rank == 0:
            report(step=step, loss=float(loss), accuracy=float(accuracy))
    if rank == 0:
        logits = _scores(tf, [weight.read_value() for weight in network], test.images)
        is_correct = tf.argmax(logits, 1, tf.int32) == test.labels
        accuracy = tf.reduce_mean(tf.cast(is_correct, tf.float32))
        say(f"Test accuracy: {float(accuracy):.4f}")


def _rank_and_count(config: str) -> tuple[int, int]:
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


def _compile_step(
    tf: Any, strategy: Any, network: Sequence[Any], lr: float
) -> Callable[[Any, Any], tuple[Any, Any]]:
    """Compile a step of training. It returns the means of loss and accuracy over all ranks."""

    def replica(images: Any, labels: Any) -> tuple[Any, Any]:
        with tf.GradientTape() as tape:
            logits = _scores(tf, network, images)
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
            loss = tf.reduce_mean(losses)
        mean = tf.distribute.ReduceOp.MEAN
        context = tf.distribute.get_replica_context()
        gradients = context.all_reduce(mean, tape.gradient(loss, network))
        for weight, gradient in zip(network, gradients, strict=True):
            weight.assign_sub(lr * gradient)
        is_correct = tf.argmax(logits, 1, tf.int32) == labels
        accuracy = tf.reduce_mean(tf.cast(is_correct, tf.float32))
        means = context.all_reduce(mean, [loss, accuracy])
        return means[0], means[1]

    def learn(images: Any, labels: Any) -> tuple[Any, Any]:
        means = strategy.run(replica, args=(images, labels))
        loss, accuracy = (strategy.experimental_local_results(mean)[0] for mean in means)
        return loss, accuracy

    compiled: Callable[[Any, Any], tuple[Any, Any]] = tf.function(learn)
    return compiled
