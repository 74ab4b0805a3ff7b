"""Programs that fail, and how the tails of the corpus are produced by running them."""
