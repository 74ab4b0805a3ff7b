"""Small trainings with other frameworks. Each finds the other ranks by its framework's variables.

The frameworks are imported at the start, by name, because Trainyard does not depend on them.
"""
