#!/bin/bash
#SBATCH --nodes=1
#SBATCH --job-name=hello
#SBATCH --ntasks=2
#SBATCH --time=5

srun bash -c 'echo "hello from task $SLURM_PROCID of $SLURM_NTASKS"'
