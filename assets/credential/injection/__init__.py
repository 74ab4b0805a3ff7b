"""From what a spec says of credentials to the values that its pods get."""
