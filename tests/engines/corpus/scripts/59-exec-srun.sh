#!/bin/bash
#SBATCH --nodes=1
#SBATCH --job-name=exec
#SBATCH --ntasks=2
#SBATCH --time=5

echo "before"
exec srun bash -c 'echo "task $SLURM_PROCID"; [ $SLURM_PROCID = 0 ] || { sleep 1; exit 12; }'
echo "never printed"
