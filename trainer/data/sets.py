"""A dataset as the loop needs it: in memory, with a part for training and one for testing."""

from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Split:
    """Samples: inputs (n, …) and their labels (n) as int64."""

    inputs: torch.Tensor
    labels: torch.Tensor

    def __len__(self) -> int:
        """The number of samples."""
        return len(self.labels)

    def to(self, device: torch.device) -> "Split":
        """Return the same samples on another device."""
        return Split(self.inputs.to(device), self.labels.to(device))


@dataclass(frozen=True)
class DataSet:
    """Training set, test set, and what the log calls them."""

    train: Split
    test: Split
    name: str
