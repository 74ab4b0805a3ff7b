"""Why a workload does not run. One module for each source of such causes, all pure."""
