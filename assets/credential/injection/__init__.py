"""From credentials named in a spec to the values that its pods get."""
