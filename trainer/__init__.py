"""Distributed training programs. torch only; stands alone."""

from trainer.metrics import report

__all__ = ["report"]
