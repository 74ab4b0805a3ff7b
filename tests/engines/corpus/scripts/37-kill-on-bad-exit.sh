#!/bin/bash
#SBATCH --job-name=kill
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --time=5

srun -K1 bash -c '[ $SLURM_PROCID = 1 ] && { sleep 1; exit 7; }; exec sleep 100'
echo "code $?"
