#!/bin/bash
#SBATCH --nodes=1
#SBATCH --job-name=many
#SBATCH --ntasks=2
#SBATCH --time=5

srun -n 8 -c 1 --immediate=1 echo never || echo "code $?"
srun --overcommit -n 4 bash -c 'echo "task $SLURM_PROCID of $SLURM_NTASKS"' | sort
