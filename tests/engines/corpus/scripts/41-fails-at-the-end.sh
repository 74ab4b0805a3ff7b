#!/bin/bash
#SBATCH --nodes=1
#SBATCH --job-name=fails
#SBATCH --ntasks=2
#SBATCH --time=5

set -e
echo "training"
srun bash -c 'echo "rank $SLURM_PROCID"'
srun -n 1 python3 -c 'import sys; print("no such data"); sys.exit(17)'
echo "never printed"
