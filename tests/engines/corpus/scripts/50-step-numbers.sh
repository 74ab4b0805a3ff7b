#!/bin/bash
#SBATCH --nodes=1
#SBATCH --job-name=numbers
#SBATCH --ntasks=2
#SBATCH --time=5

for i in 1 2 3; do
  srun -n 1 bash -c 'echo "step $SLURM_STEP_ID"'
done
srun -n 1 printenv SLURM_STEPID
