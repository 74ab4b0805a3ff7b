"""Distributed training programs. torch only; stands alone."""

from trainer.record.metrics import report

__all__ = ["report"]
