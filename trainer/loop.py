"""The training loop. It is the same for every program and on every rank."""

import math
from functools import lru_cache

import torch
from torch import nn

from trainer import programs, training
from trainer.config import Config
from trainer.data.sets import Split
from trainer.errors import PREEMPTED, Diverged
from trainer.gang import group, stop
from trainer.gang.identity import Identity
from trainer.gang.order import share
from trainer.model import correct
from trainer.record.meter import SampleMeter
from trainer.record.metrics import say
from trainer.training import Training


def run(config: Config, identity: Identity) -> int:
    """Train and test as one rank of a group, and return the exit code.

    The code is 0 if the training is complete, and ``PREEMPTED`` if a signal stopped it after a
    checkpoint. Other endings raise a ``TrainerError``.
    """
    parts = programs.PARTS[config.program]
    data = parts.load(config)
    with stop.listening() as wish, group.join(identity, config, wish) as ranks:
        say(
            f"Rank {ranks.rank}: {ranks.backend} on {ranks.device}, {torch.get_num_threads()} "
            f"threads; {data.name}, {len(data.train)} to learn and {len(data.test)} to test"
        )
        this = training.fresh(config, lambda: parts.network(data), len(data.train), ranks)
        done, meter = training.resume(this)
        if stopped := _train(this, data.train.to(ranks.device), done, meter, wish):
            return stopped
        _test(this, data.test.to(ranks.device))
        if config.save_model and ranks.is_master:
            training.export(this)
        return 0


def _train(
    this: Training, samples: Split, done: int, meter: SampleMeter, wish: stop.StopWish
) -> int:
    """Run the steps after ``done``. Returns 0 after the last one, or ``PREEMPTED`` after a request
    to stop.

    Every rank takes the same steps, and leaves the loop after the same one. The loss stays on its
    device until a sample or a checkpoint needs it: each step would have to wait if the loss was
    read back, or summed over the ranks, every time.
    """
    config = this.config
    order = this.order
    ranks = this.ranks
    for step in range(done + 1, this.last_step + 1):
        _step(this, samples, order.batch(step), meter, stopping=bool(wish))
        last = step == this.last_step
        stopping = this.net.wants_to_stop(step)
        logs = last or step % config.log_interval == 0
        saves = last or stopping or step % config.checkpoint_every == 0
        if logs or saves:
            meter.gather(ranks)
            if not math.isfinite(meter.loss):
                raise Diverged(f"the loss is {meter.loss} by step {step}: try a smaller --lr")
        if logs:
            this.report(step=step, epoch=order.epoch(step), **meter.read())
            meter = SampleMeter()
        if order.ends_epoch(step):
            say(f"Rank {ranks.rank}: epoch {order.epoch(step)} of {config.epochs} done")
        if saves:
            training.save(this, step, meter)
        if stopping:
            say(f"Rank {ranks.rank}: stopped after step {step} by {wish.signal or 'another rank'}")
            return PREEMPTED
        wish.pause(config.step_delay)
    return 0


def _step(
    this: Training,
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
    indices = share(batch, this.ranks.rank, this.ranks.world_size)
    labels = samples.labels[indices]
    scores = this.model(samples.inputs[indices])
    loss = nn.functional.cross_entropy(scores, labels, reduction="sum")
    this.model.zero_grad()
    weight = _number(this.ranks.world_size / len(batch), loss.device)
    vote = _number(float(stopping), loss.device)
    torch.autograd.backward([loss, this.net.ballot], [weight, vote])
    this.optimizer.step()
    meter.add(loss.detach(), correct(scores.detach(), labels), len(batch))


@lru_cache(maxsize=8)
def _number(value: float, device: torch.device) -> torch.Tensor:
    """Return a number as autograd takes it. The few of a training are kept: a GPU would have to be
    told each of them in every step."""
    return torch.tensor(value, device=device)


@torch.no_grad()
def _test(this: Training, samples: Split) -> None:
    """Report loss and accuracy on the test set. The ranks share its samples among themselves."""
    network = this.network
    ranks = this.ranks
    network.eval()
    loss = 0.0
    hits = 0
    indices = share(torch.arange(len(samples), device=ranks.device), ranks.rank, ranks.world_size)
    for part in torch.split(indices, this.config.test_batch_size):
        labels = samples.labels[part]
        scores = network(samples.inputs[part])
        loss += nn.functional.cross_entropy(scores, labels, reduction="sum").item()
        hits += int(correct(scores, labels))
    all_loss, all_hits = ranks.add(loss, hits)
    accuracy = all_hits / len(samples)
    this.report(
        step=this.last_step,
        epoch=this.config.epochs,
        test_loss=all_loss / len(samples),
        test_accuracy=accuracy,
    )
    if ranks.is_master:
        say(f"Test accuracy: {accuracy:.4f}")
