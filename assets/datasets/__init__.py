"""What people and the worker do with datasets: verbs, pages, and upkeep."""
