"""The networks: a convolutional one for images, and one of three linear layers for rows."""

import torch
from torch import nn


class ConvNet(nn.Sequential):
    """Maps images (n, channels, height, width) of at least 4 x 4 pixels to scores (n, 10).

    It draws random numbers only for its first weights (it has no dropout), so that a resumed
    training repeats exactly.
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
    """Converts pixels from bytes to numbers around 0.

    The dataset can stay in bytes, which take a quarter of the memory of floats.
    """

    def forward(self, pixels: torch.Tensor) -> torch.Tensor:
        """Return the pixels as floats from -2 to 2, in the same shape."""
        return pixels.float() / 64 - 2


class RowNet(nn.Sequential):
    """Maps rows of numbers (n, columns) to scores (n, classes)."""

    def __init__(self, columns: int, classes: int) -> None:
        super().__init__(
            nn.Linear(columns, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, classes)
        )


class StoppableNet(nn.Module):
    """Wraps a network so that its gradients carry a request to stop from one rank to all others.

    The ballot is a parameter that is never trained. Its gradient, which the loop gives it, is 1 on
    each rank that was asked to stop, and 0 on the others. DDP averages it over all ranks with the
    other gradients, so the ranks agree without a message of their own.
    """

    # On a GPU the ballot is read only every so many steps: reading waits for all work before it.
    LOOKS = 10

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network
        self.ballot = nn.Parameter(torch.zeros(()))

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """Return the scores."""
        scores: torch.Tensor = self.network(inputs)
        return scores

    def wants_to_stop(self, step: int) -> bool:
        """Whether any rank voted to stop in the step just taken. Every rank gets the same
        answer."""
        votes = self.ballot.grad
        if votes is None or (votes.is_cuda and step % self.LOOKS):
            return False
        return votes.item() > 0


def count_correct(scores: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Count the samples whose highest score is that of their label.

    ``scores`` is (n, classes), ``labels`` is (n). The result is a tensor with one number, still on
    its device.
    """
    return (scores.argmax(dim=1) == labels).sum()
