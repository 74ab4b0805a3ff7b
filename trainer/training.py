"""A training in progress: how it starts, is saved, and is resumed."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from trainer.config import Config
from trainer.errors import UsageError
from trainer.gang.group import Group
from trainer.gang.order import Order
from trainer.model import StoppableNet
from trainer.record import checkpoint
from trainer.record.meter import SampleMeter
from trainer.record.metrics import Reporter, say


@dataclass(frozen=True)
class Training:
    """The objects that every part of the loop works with."""

    config: Config
    order: Order
    ranks: Group
    net: StoppableNet
    model: DistributedDataParallel  # wraps ``net``: averages gradients over the ranks
    optimizer: torch.optim.SGD
    report: Reporter

    @property
    def last_step(self) -> int:
        """The step after which the training is complete."""
        return self.order.steps_per_epoch * self.config.epochs

    @property
    def network(self) -> nn.Module:
        """The network that is trained, saved and tested, without the ballot around it."""
        return self.net.network

    @property
    def fixed(self) -> dict[str, int]:
        """Values that must be the same on resume, or a step number would mean another batch."""
        order = self.order
        return {"seed": order.seed, "batch_size": order.batch_size, "samples": order.samples}


def start_training(
    config: Config, network: Callable[[], nn.Module], samples: int, ranks: Group
) -> Training:
    """Build a training at its beginning. The seed determines the first weights.

    ``network`` builds the network; ``samples`` is the size of the training set.
    """
    torch.manual_seed(config.seed)
    net = StoppableNet(network()).to(ranks.device)
    devices = [ranks.device] if ranks.device.type == "cuda" else None
    return Training(
        config=config,
        order=Order(samples, config.batch_size, config.seed, ranks.device),
        ranks=ranks,
        net=net,
        model=DistributedDataParallel(net, device_ids=devices),
        optimizer=torch.optim.SGD(net.network.parameters(), lr=config.lr, momentum=config.momentum),
        report=Reporter(config.dir, speaks=ranks.is_master),
    )


def save_training(training: Training, step: int, meter: SampleMeter) -> None:
    """Write a checkpoint and report it. Ranks other than 0 do nothing."""
    if not training.ranks.is_master:
        return
    state = {
        "model": training.network.state_dict(),
        "optimizer": training.optimizer.state_dict(),
        "rng": torch.get_rng_state(),
        "meter": meter.sums(),
    }
    about = {
        "epoch": training.order.epoch(step),
        "epochs": training.config.epochs,
        **training.fixed,
    }
    path = checkpoint.save(training.config.checkpoint_dir, step, state, about)
    size = path.with_suffix(".pt").stat().st_size
    training.report(event="checkpoint", step=step, path=str(path), bytes=size)


def resume_training(training: Training) -> tuple[int, SampleMeter]:
    """Load the newest intact checkpoint. Returns the last step that is done, and the meter as it
    was.

    Without a checkpoint these are 0 and an empty meter. Raises ``UsageError`` if the checkpoint
    belongs to a training with another seed, batch size or number of samples.
    """
    newest = _find_checkpoint(training)
    if newest is None:
        return 0, SampleMeter()
    state, about = newest
    for name, value in training.fixed.items():
        if about.get(name) != value:
            raise UsageError(
                f"{training.config.checkpoint_dir} holds a training with {name} {about.get(name)}, "
                f"this one has {value}: give the same, another --checkpoint-dir or --resume never"
            )
    training.network.load_state_dict(state["model"])
    training.optimizer.load_state_dict(state["optimizer"])
    for settings in training.optimizer.param_groups:  # people may change these flags on purpose
        settings.update(lr=training.config.lr, momentum=training.config.momentum)
    torch.set_rng_state(state["rng"])
    step = int(about["step"])
    training.report(event="resumed", step=step, epoch=training.order.epoch(step))
    done = "; nothing is left to train" if step >= training.last_step else ""
    say(f"Rank {training.ranks.rank}: resumed after step {step} of {training.last_step}{done}")
    return step, SampleMeter(*state["meter"])


def _find_checkpoint(training: Training) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """Return the checkpoint that rank 0 finds, on every rank. The machines need not share the
    folder.

    With ``--resume never``, rank 0 deletes the checkpoints in the folder instead.
    """
    newest = None
    if training.ranks.is_master and training.config.resume == "auto":
        newest = checkpoint.load_newest(training.config.checkpoint_dir)
    elif training.ranks.is_master:
        checkpoint.delete_all(training.config.checkpoint_dir)
    shared: tuple[dict[str, Any], dict[str, Any]] | None = training.ranks.broadcast(newest)
    return shared


def export_model(training: Training) -> None:
    """Save the trained weights to ``model_file``, in ``--dir`` or the working directory."""
    path = (training.config.dir or Path()) / training.config.model_file
    torch.save(training.network.state_dict(), path)
    say(f"Model saved to {path}")
