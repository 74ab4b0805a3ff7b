#!/bin/bash
#SBATCH --nodes=1
#SBATCH --job-name=itself
#SBATCH --ntasks=2
#SBATCH --time=5

if [ -z "$SLURM_STEP_ID" ]; then
  echo "batch part"
  srun "$0"
  exit
fi
echo "step part of task $SLURM_PROCID"
