"""Follow changes on the cluster: reflectors, the watcher, and snapshots of workloads."""
