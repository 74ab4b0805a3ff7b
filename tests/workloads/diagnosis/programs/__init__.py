"""Programs that fail. Running them writes tails of the corpus."""
