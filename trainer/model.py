"""The networks: two convolutions and two linear layers for images, three layers for rows."""

import torch
from torch import nn


class ConvNet(nn.Sequential):
    """Ten scores for an image of at least 4 x 4 pixels.

    It draws no random numbers once made (no dropout), so a resumed training repeats exactly.
    """

    def __init__(self, channels: int, height: int, width: int) -> None:
        super().__init__(
            nn.Conv2d(channels, 16, kernel_size=3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(16, 32, kernel_size=3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Flatten(),
            nn.Linear(32 * (height // 4) * (width // 4), 64),
            nn.ReLU(),
            nn.Linear(64, 10),
        )


class Centered(nn.Module):
    """Pixels that are bytes, as numbers around 0: so a large data set takes a quarter of the
    memory."""

    def forward(self, pixels: torch.Tensor) -> torch.Tensor:
        """From -2 to 2 each."""
        return pixels.float() / 64 - 2


class RowNet(nn.Sequential):
    """Scores of the classes of a row of numbers."""

    def __init__(self, columns: int, classes: int) -> None:
        super().__init__(
            nn.Linear(columns, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, classes)
        )


class StoppableNet(nn.Module):
    """A network whose gradients carry the wish to stop from rank to rank.

    The ballot is a parameter that nobody trains. Its gradient on each rank is 1 for a wish, 0
    for none, and is averaged with all the others: so ranks agree without a message of their own.
    """

    LOOKS = 10  # steps between two on a GPU, where reading a number waits for all before it

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network
        self.ballot = nn.Parameter(torch.zeros(()))

    def forward(self, inputs: torch.Tensor, stopping: bool) -> tuple[torch.Tensor, torch.Tensor]:
        """Scores, and the vote to be added to the loss, which it does not change."""
        return self.network(inputs), self.ballot * float(stopping)

    def wants_to_stop(self, step: int) -> bool:
        """Whether any rank voted for it in the step just taken: the same answer on every rank."""
        votes = self.ballot.grad
        if votes is None or (votes.is_cuda and step % self.LOOKS):
            return False
        return votes.item() > 0


def correct(scores: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """How many of the samples have their highest score at their label, as a tensor of one."""
    return (scores.argmax(dim=1) == labels).sum()
