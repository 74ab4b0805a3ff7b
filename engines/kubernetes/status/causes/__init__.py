"""Why a workload does not run: one module for each place where that is said. All pure."""
