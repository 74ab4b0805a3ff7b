#!/bin/bash
#SBATCH --nodes=1
#SBATCH --job-name=timed
#SBATCH --ntasks=2
#SBATCH --time=5

TIMEFORMAT='took less than a day'
time srun bash -c 'echo "timed $SLURM_PROCID"'
SECONDS=0
time { srun -n 1 true; srun -n 1 true; }
echo "ended"
