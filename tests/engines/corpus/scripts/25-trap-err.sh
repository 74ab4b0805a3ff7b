#!/bin/bash
#SBATCH --job-name=errors
#SBATCH --ntasks=1
#SBATCH --time=5

set -eE
trap 'echo "failed with $?"' ERR
srun -n 1 true
echo "fine so far"
srun -n 1 bash -c 'exit 9'
echo "never printed"
