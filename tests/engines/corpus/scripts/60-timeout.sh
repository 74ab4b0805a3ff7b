#!/bin/bash
#SBATCH --job-name=timeout
#SBATCH --ntasks=1
#SBATCH --time=5

timeout 20 srun -n1 echo "fast enough"
echo "code $?"
timeout --foreground 1 srun -n1 sleep 100 2> /dev/null
echo "code $?"
