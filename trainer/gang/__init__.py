"""The ranks of a training: which is which, how they meet, and how they start and stop together."""
