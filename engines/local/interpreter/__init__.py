"""The Python that ranks run: which one it is, and its installation by Trainyard."""
