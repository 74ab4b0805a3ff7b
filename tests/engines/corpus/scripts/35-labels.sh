#!/bin/bash
#SBATCH --nodes=1
#SBATCH --job-name=labels
#SBATCH --ntasks=3
#SBATCH --time=5

srun -l bash -c 'echo "rank $SLURM_PROCID"'
srun --label bash -c 'echo piped; echo error >&2' 2> errors | sort
sort errors
srun -n 1 -l printf 'without end'
