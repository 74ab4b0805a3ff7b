#!/bin/bash
#SBATCH --job-name=wrong
#SBATCH --ntasks=1
#SBATCH --time=5

srun --no-such-option echo never
echo "code $?"
srun
echo "code $?"
srun -n zero echo never
echo "code $?"
