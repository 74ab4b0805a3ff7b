"""Trains on handwritten digits with the ranks of one task of a workflow.

Run it in each task as ``train_dist.py --offset FIRST_RANK --size PROCESSES --world_size ALL``, with
the address of rank 0 in ``MASTER_ADDR`` and ``MASTER_PORT``. It is one file that imports nothing of
ours, so that a workflow can bring it along.
"""

import argparse
import gzip
import hashlib
import json
import os
import socket
import sys
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.multiprocessing.spawn import ProcessExitedException, ProcessRaisedException, spawn
from torch.nn import functional
from torch.nn.parallel import DistributedDataParallel

SIDE = 28  # pixels of MNIST's images
SEED = 1234
WRONG_USE = 2
NO_DATA = 10


class Net(nn.Module):
    """Two convolutions and two linear layers; images are (n, 1, SIDE, SIDE)."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, 10, kernel_size=5)
        self.conv2 = nn.Conv2d(10, 20, kernel_size=5)
        self.dropout = nn.Dropout2d()
        self.fc1 = nn.Linear(320, 50)
        self.fc2 = nn.Linear(50, 10)

    def forward(self, images: Tensor) -> Tensor:
        hidden = functional.relu(functional.max_pool2d(self.conv1(images), 2))
        hidden = functional.relu(functional.max_pool2d(self.dropout(self.conv2(hidden)), 2))
        hidden = functional.relu(self.fc1(hidden.flatten(1)))
        hidden = functional.dropout(hidden, training=self.training)
        return functional.log_softmax(self.fc2(hidden), dim=1)


def parse_flags(argv: Sequence[str]) -> argparse.Namespace:
    """Parse the flags. Wrong ones end the process with code 2."""
    parser = argparse.ArgumentParser("train_dist.py", description=__doc__)
    parser.add_argument("--offset", type=int, default=0, help="the rank of the first process here")
    parser.add_argument("--size", type=int, default=1, help="processes here")
    parser.add_argument("--world_size", type=int, default=2, help="processes of all tasks")
    parser.add_argument("--epochs", type=int, default=10, help="passes over the digits")
    parser.add_argument("--batch_size", type=int, default=128, help="samples of a step, all ranks")
    parser.add_argument("--lr", type=float, default=0.1, help="learning rate")
    parser.add_argument("--data", type=Path, help="folder of MNIST's files; else a small set")
    parser.add_argument("--models", type=Path, default=Path("/models"), help="where the model goes")
    flags = parser.parse_args(argv)
    if flags.offset < 0:
        parser.error("--offset must not be negative")
    if flags.size < 1:
        parser.error("--size must be at least 1")
    if flags.offset + flags.size > flags.world_size:
        parser.error(
            f"ranks {flags.offset} to {flags.offset + flags.size - 1} are more than the "
            f"--world_size of {flags.world_size}"
        )
    if "MASTER_ADDR" not in os.environ and flags.size < flags.world_size:
        parser.error("MASTER_ADDR must name the host of rank 0, and MASTER_PORT a port of it")
    return flags


def load_digits(folder: Path | None) -> tuple[Tensor, Tensor]:
    """Return images (n, 1, SIDE, SIDE) from 0 to 1, and their labels: MNIST's training set from a
    folder, or the 1,797 digits that scikit-learn contains, enlarged."""
    if folder is None:
        from sklearn.datasets import load_digits as load_bundled  # takes seconds, so only if needed

        bundled = load_bundled()
        small = torch.tensor(bundled.images, dtype=torch.float32).unsqueeze(1) / 16
        images = functional.interpolate(small, size=(SIDE, SIDE), mode="bilinear")
        return images, torch.tensor(bundled.target, dtype=torch.int64)
    pixels = _read_idx(folder, "train-images-idx3-ubyte", header=16)
    labels = _read_idx(folder, "train-labels-idx1-ubyte", header=8)
    images = torch.from_numpy(pixels).view(-1, 1, SIDE, SIDE).float() / 255
    return images, torch.from_numpy(labels).long()


def _read_idx(
    folder: Path, name: str, *, header: int
) -> "np.ndarray[tuple[int], np.dtype[np.uint8]]":
    """Return the bytes behind the header of one of MNIST's files, plain or compressed."""
    plain = folder / name
    packed = folder / f"{name}.gz"
    content = plain.read_bytes() if plain.exists() else gzip.decompress(packed.read_bytes())
    return np.frombuffer(content, np.uint8, offset=header).copy()


def batches(count: int, epoch: int, rank: int, flags: argparse.Namespace) -> Iterator[Tensor]:
    """Yield the samples of each step of an epoch that belong to a rank.

    Every sample is used. The first ones of the order follow its end, so that all ranks have
    equally many in every step.
    """
    ranks = flags.world_size
    order = torch.randperm(count, generator=torch.Generator().manual_seed(SEED + epoch))
    missing = -count % ranks
    share = torch.cat([order, order[:missing]])[rank::ranks]
    yield from torch.split(share, max(flags.batch_size // ranks, 1))


def train(index: int, flags: argparse.Namespace, images: Tensor, labels: Tensor) -> None:
    """Train as the process ``index`` of this task. All ranks end with the same parameters."""
    rank = flags.offset + index
    on_gpu = torch.cuda.device_count() >= flags.size
    device = torch.device("cuda", index) if on_gpu else torch.device("cpu")
    if on_gpu:
        torch.cuda.set_device(device)
    elif "OMP_NUM_THREADS" not in os.environ:  # torch takes as many threads as that says
        torch.set_num_threads(max((os.cpu_count() or 1) // flags.size, 1))
    dist.init_process_group(
        "nccl" if on_gpu else "gloo",
        rank=rank,
        world_size=flags.world_size,
        timeout=timedelta(minutes=10),
    )
    torch.manual_seed(SEED)
    model = DistributedDataParallel(Net().to(device))
    # From here on each rank drops out units of its own.
    torch.manual_seed(SEED + rank)
    optimizer = torch.optim.SGD(model.parameters(), lr=flags.lr, momentum=0.5)
    images = images.to(device)
    labels = labels.to(device)
    step = 0
    for epoch in range(flags.epochs):
        totals = torch.zeros(3, device=device)  # loss, correct answers, samples
        for samples in batches(len(labels), epoch, rank, flags):
            step += 1
            targets = labels[samples]
            optimizer.zero_grad()
            output = model(images[samples])
            loss = functional.nll_loss(output, targets)
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            correct = (output.argmax(dim=1) == targets).sum()
            size = float(len(targets))
            totals += torch.stack([loss.detach() * size, correct, torch.tensor(size)]).to(device)
        print("Rank ", rank, ", epoch ", epoch, ": ", float(totals[0] / totals[2]), flush=True)
        dist.all_reduce(totals)
        if rank == 0:
            mean_loss, accuracy = (totals[:2] / totals[2]).tolist()
            report(step=step, epoch=epoch, loss=mean_loss, accuracy=accuracy)
    print(f"Rank {rank} parameters {fingerprint(model.module)}", flush=True)
    if rank == 0:
        save(model.module, flags.models / "model_rank_0.pth")
    # A rank that left early would break the connection of one that still sends.
    dist.barrier()
    # Before the group: a model that is the last to refer to it frees it while the interpreter is
    # locked, for which a thread of gloo may still wait.
    del model, optimizer, output, loss
    dist.destroy_process_group()


def report(**values: float) -> None:
    """Print a sample of metrics, which Trainyard draws."""
    print(json.dumps({name: round(value, 6) for name, value in values.items()}), flush=True)


def fingerprint(model: nn.Module) -> str:
    """Return a text that is the same for models with the same parameters."""
    digest = hashlib.sha256()
    for parameter in model.parameters():
        digest.update(parameter.detach().cpu().numpy().tobytes())
    return digest.hexdigest()[:16]


def save(model: nn.Module, path: Path) -> None:
    """Write the parameters, first under another name, so that no file is ever half written."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(".tmp")
    torch.save(model.state_dict(), draft)
    draft.replace(path)


def main(argv: Sequence[str]) -> int:
    """Start the processes of this task. If one fails, the others are stopped, and its exit code is
    returned."""
    flags = parse_flags(argv)
    try:
        images, labels = load_digits(flags.data)
    except (OSError, ImportError, ValueError) as error:
        print(f"The digits cannot be read: {error}", file=sys.stderr)
        return NO_DATA
    os.environ.setdefault("MASTER_ADDR", "localhost")
    if "MASTER_PORT" not in os.environ:
        os.environ["MASTER_PORT"] = str(_free_port())
    for rank in range(flags.offset, flags.offset + flags.size):
        print("Rank", rank, flush=True)
    try:
        spawn(train, (flags, images, labels), nprocs=flags.size)  # type: ignore[no-untyped-call]
    except ProcessExitedException as error:
        print(error, file=sys.stderr)
        return error.exit_code if error.exit_code > 0 else 128 - error.exit_code
    except ProcessRaisedException as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("", 0))
        return int(listener.getsockname()[1])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
