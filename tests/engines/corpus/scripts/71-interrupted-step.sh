#!/bin/bash
#SBATCH --job-name=interrupt
#SBATCH --nodes=1
#SBATCH --ntasks=2
#SBATCH --time=5

# The first interrupt only asks; the program goes on.
timeout --foreground --signal=INT 1 srun bash -c 'sleep 3; echo "ended $SLURM_PROCID"'
echo "code $?"
