"""REST: assets, with one implementation for every kind that has a form in JSON."""
