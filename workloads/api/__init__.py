"""REST: workloads, with the paths and JSON of Run:ai. Requests go through the same plan and
submission as the wizard's drafts."""
