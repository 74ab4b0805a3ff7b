"""The network: two convolutions and two linear layers."""

import torch
from torch import nn


class DigitNet(nn.Sequential):
    """Ten scores for a one-channel image of at least 4 x 4 pixels.

    It draws no random numbers once made (no dropout), so a resumed training repeats exactly.
    """

    def __init__(self, height: int, width: int) -> None:
        super().__init__(
            nn.Conv2d(1, 16, kernel_size=3, padding=1),
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


def correct(scores: torch.Tensor, labels: torch.Tensor) -> int:
    """How many of the samples have their highest score at their label."""
    return int((scores.argmax(dim=1) == labels).sum())
