#!/bin/bash
#SBATCH --nodes=1
#SBATCH --job-name=nokill
#SBATCH --ntasks=2
#SBATCH --time=5

srun -K0 bash -c '[ $SLURM_PROCID = 1 ] && exit 7; sleep 1; echo survived'
echo "code $?"
