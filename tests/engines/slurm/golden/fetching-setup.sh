pip install -e /shared/trainyard/workloads/00000000000040008000000000000001/runs/1/volumes/0
