#!/bin/bash
#SBATCH --nodes=1
#SBATCH --job-name=highest
#SBATCH --ntasks=4
#SBATCH --time=5

srun -K0 bash -c 'sleep 0.$((SLURM_PROCID * 3)); exit $((SLURM_PROCID * 2))'
echo "code $?"
