"""The training loop. It is the same for every program and on every rank."""

import math
from functools import lru_cache

import torch
from torch import nn

from trainer import programs
from trainer.config import Config
from trainer.data.sets import Split
from trainer.errors import PREEMPTED, Diverged
from trainer.gang import group, stop
from trainer.gang.identity import Identity
from trainer.gang.order import share
from trainer.model import count_correct
from trainer.record.meter import SampleMeter
from trainer.record.metrics import say
from trainer.training import (
    Training,
    export_model,
    resume_training,
    save_training,
    start_training,
)


def run(config: Config, identity: Identity) -> int:
    """Train and test as one rank of a group, and return the exit code.

    The code is 0 if the training is complete, and ``PREEMPTED`` if a signal stopped it after a
    checkpoint. Other endings raise a ``TrainerError``.
    """
    parts = programs.PARTS[config.program]
    data = parts.load(config)
    with (
        stop.listen_for_stop() as stop_request,
        group.join(identity, config, stop_request) as ranks,
    ):
        say(
            f"Rank {ranks.rank}: {ranks.backend} on {ranks.device}, {torch.get_num_threads()} "
            f"threads; {data.name}, {len(data.train)} to learn and {len(data.test)} to test"
        )
        training = start_training(config, lambda: parts.network(data), len(data.train), ranks)
        last_done, meter = resume_training(training)
        exit_code = _train(training, data.train.to(ranks.device), last_done, meter, stop_request)
        if exit_code:
            return exit_code
        _test(training, data.test.to(ranks.device))
        if config.save_model and ranks.is_master:
            export_model(training)
        return 0


def _train(
    training: Training,
    samples: Split,
    last_done: int,
    meter: SampleMeter,
    stop_request: stop.StopRequest,
) -> int:
    """Run the steps after ``last_done``. Returns 0 after the last one, or ``PREEMPTED`` after a
    request to stop.

    Every rank takes the same steps, and leaves the loop after the same one.
    """
    config = training.config
    order = training.order
    ranks = training.ranks
    for step in range(last_done + 1, training.last_step + 1):
        _take_step(training, samples, order.batch(step), meter, stopping=bool(stop_request))
        last = step == training.last_step
        stopping = training.net.wants_to_stop(step)
        logs = last or step % config.log_interval == 0
        saves = last or stopping or step % config.checkpoint_every == 0
        if logs or saves:
            # Only here: reading the loss, and summing it over the ranks, waits for the device.
            meter.gather(ranks)
            if not math.isfinite(meter.loss):
                raise Diverged(f"the loss is {meter.loss} by step {step}: try a smaller --lr")
        if logs:
            training.report(step=step, epoch=order.epoch(step), **meter.read())
            meter = SampleMeter()
        if order.ends_epoch(step):
            say(f"Rank {ranks.rank}: epoch {order.epoch(step)} of {config.epochs} done")
        if saves:
            save_training(training, step, meter)
        if stopping:
            cause = stop_request.signal or "another rank"
            say(f"Rank {ranks.rank}: stopped after step {step} by {cause}")
            return PREEMPTED
        stop_request.pause(config.step_delay)
    return 0


def _take_step(
    training: Training,
    samples: Split,
    batch: torch.Tensor,
    meter: SampleMeter,
    *,
    stopping: bool,
) -> None:
    """Take one step with this rank's share of a batch, and count it in the meter.

    ``batch`` holds the indices of all samples of the step, over all ranks. DDP averages the
    gradients over the ranks. So each rank divides its summed loss by the mean number of samples per
    rank, not by the size of its own share: the averaged gradient is then the mean over the whole
    batch, even if the shares differ in size. Backward starts from that factor, and the ballot's
    from the vote, so that neither adds to what the GPU computes in a step.
    """
    indices = share(batch, training.ranks.rank, training.ranks.world_size)
    labels = samples.labels[indices]
    scores = training.model(samples.inputs[indices])
    loss = nn.functional.cross_entropy(scores, labels, reduction="sum")
    training.model.zero_grad()
    weight = _constant(training.ranks.world_size / len(batch), loss.device)
    vote = _constant(float(stopping), loss.device)
    torch.autograd.backward([loss, training.net.ballot], [weight, vote])
    training.optimizer.step()
    meter.add(loss.detach(), count_correct(scores.detach(), labels), len(batch))


@lru_cache(maxsize=8)
def _constant(value: float, device: torch.device) -> torch.Tensor:
    """Return a number as a tensor on the device. The few numbers of a training are cached, because
    each new one would have to be copied to the GPU."""
    return torch.tensor(value, device=device)


@torch.no_grad()
def _test(training: Training, samples: Split) -> None:
    """Report loss and accuracy on the test set. The ranks share its samples among themselves."""
    network = training.network
    ranks = training.ranks
    network.eval()
    loss = 0.0
    hits = 0
    indices = share(torch.arange(len(samples), device=ranks.device), ranks.rank, ranks.world_size)
    for part in torch.split(indices, training.config.test_batch_size):
        labels = samples.labels[part]
        scores = network(samples.inputs[part])
        loss += nn.functional.cross_entropy(scores, labels, reduction="sum").item()
        hits += int(count_correct(scores, labels))
    all_loss, all_hits = ranks.sum_over_ranks(loss, hits)
    accuracy = all_hits / len(samples)
    training.report(
        step=training.last_step,
        epoch=training.config.epochs,
        test_loss=all_loss / len(samples),
        test_accuracy=accuracy,
    )
    if ranks.is_master:
        say(f"Test accuracy: {accuracy:.4f}")
