#!/bin/bash
#SBATCH --job-name=closed
#SBATCH --nodes=1
#SBATCH --ntasks=2
#SBATCH --time=5

srun -n1 bash -c 'echo "no input"' <&-
srun bash -c 'echo "no input of $SLURM_PROCID"' < /dev/null
srun -n1 bash -c 'echo unseen' > /dev/null
echo "ended"
