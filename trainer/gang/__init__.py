"""Ranks: who they are, how they meet, start and stop together."""
