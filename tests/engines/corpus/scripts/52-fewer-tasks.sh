#!/bin/bash
#SBATCH --job-name=fewer
#SBATCH --nodes=2
#SBATCH --ntasks=4
#SBATCH --time=5

srun -n 2 bash -c 'echo "two: $SLURM_PROCID on node $SLURM_NODEID"'
srun -N 1 -n 2 bash -c 'echo "one node: $SLURM_PROCID on node $SLURM_NODEID"'
srun -n 1 bash -c 'echo "one: $SLURM_PROCID"'
srun -N 2 -n 3 bash -c 'echo "three: $SLURM_PROCID.$SLURM_LOCALID on node $SLURM_NODEID"'
