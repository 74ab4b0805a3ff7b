"""Sections about the number of pods and what each requests."""
