"""Predict whether a gang would start, on the nodes as last seen."""
