#!/bin/bash
#SBATCH --job-name=horovod
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=2
#SBATCH --time=5

hosts=""
for host in $(scontrol show hostnames); do
  hosts="$hosts$host:$SLURM_NTASKS_PER_NODE,"
done
hosts=${hosts%,}
command -v horovodrun > /dev/null || horovodrun() { echo "horovodrun $@"; }
horovodrun -np $SLURM_NTASKS -H $hosts python train.py
