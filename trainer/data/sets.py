"""A data set as the loop takes it: in memory, in two parts."""

from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Split:
    """Inputs of any shape, the first dimension counts them; labels as int64 (n)."""

    inputs: torch.Tensor
    labels: torch.Tensor

    def __len__(self) -> int:
        """Number of samples."""
        return len(self.labels)

    def to(self, device: torch.device) -> "Split":
        """The same samples on another device."""
        return Split(self.inputs.to(device), self.labels.to(device))


@dataclass(frozen=True)
class DataSet:
    """A data set in two parts and its name for the log."""

    train: Split
    test: Split
    name: str
