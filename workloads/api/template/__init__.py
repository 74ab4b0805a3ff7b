"""REST: templates, with paths for each kind of workload, as in Run:ai."""
