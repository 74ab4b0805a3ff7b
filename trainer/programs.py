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
class ProgramParts:
    """How a program loads its dataset, and how it builds the network for that dataset."""

    load: Callable[[Config], DataSet]
    network: Callable[[DataSet], nn.Module]


def _digits_network(data: DataSet) -> nn.Module:
    return ConvNet(*data.train.inputs.shape[1:])


def _pictures_network(data: DataSet) -> nn.Module:
    return nn.Sequential(Centered(), ConvNet(*data.train.inputs.shape[1:]))


def _rows_network(data: DataSet) -> nn.Module:
    return RowNet(synthetic.COLUMNS, synthetic.CLASSES)


#: Keys are the names in ``trainer.config.PROGRAMS``.
PARTS = {
    "mnist": ProgramParts(
        lambda config: digits.load(config.data_dir, config.seed), _digits_network
    ),
    "cifar10": ProgramParts(lambda config: cifar10.load(config.data_dir), _pictures_network),
    "synthetic": ProgramParts(lambda config: synthetic.load(config.seed), _rows_network),
}
