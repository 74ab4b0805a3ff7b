#!/bin/bash
#SBATCH --job-name=grouped
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=2
#SBATCH --time=5

srun -K1 bash -c '[ $SLURM_PROCID = 3 ] && { sleep 1; exit 5; }; exec sleep 100'
echo "code $?"
srun -K0 bash -c '[ $SLURM_NODEID = 1 ] && { sleep 0.5; exit 6; }; exit 0'
echo "code $?"
