"""Distributed training programs. torch only; stands alone."""
