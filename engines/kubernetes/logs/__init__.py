"""Read the output of pods while they print it."""
