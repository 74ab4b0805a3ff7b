"""What differs between the programs while they train: where the samples come from, and the
network."""

from collections.abc import Callable
from dataclasses import dataclass

from torch import nn

from trainer.config import Config
from trainer.data import cifar10, digits, synthetic
from trainer.data.sets import DataSet
from trainer.model import Centered, ConvNet, RowNet


@dataclass(frozen=True)
class Parts:
    """How a program loads its dataset, and how it builds the network for that dataset."""

    load: Callable[[Config], DataSet]
    network: Callable[[DataSet], nn.Module]


def _for_digits(data: DataSet) -> nn.Module:
    return ConvNet(*data.train.inputs.shape[1:])


def _for_pictures(data: DataSet) -> nn.Module:
    return nn.Sequential(Centered(), ConvNet(*data.train.inputs.shape[1:]))


def _for_rows(data: DataSet) -> nn.Module:
    return RowNet(synthetic.COLUMNS, synthetic.CLASSES)


#: Keys are the names in ``trainer.config.PROGRAMS``.
PARTS = {
    "mnist": Parts(lambda config: digits.load(config.data_dir, config.seed), _for_digits),
    "cifar10": Parts(lambda config: cifar10.load(config.data_dir), _for_pictures),
    "synthetic": Parts(lambda config: synthetic.load(config.seed), _for_rows),
}
