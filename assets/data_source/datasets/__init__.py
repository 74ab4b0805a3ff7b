"""The versions of datasets: their files, who made them, and how they are written and read."""
