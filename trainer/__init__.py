"""Distributed training programs on PyTorch. The package imports nothing else of Trainyard, so it
can be copied into any image."""

from trainer.record.metrics import report

__all__ = ["report"]
