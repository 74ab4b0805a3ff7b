#!/bin/bash
#SBATCH --job-name=gpus
#SBATCH --nodes=1
#SBATCH --ntasks=2
#SBATCH --gres=gpu:2
#SBATCH --time=5

echo "on the node: $SLURM_GPUS_ON_NODE"
srun bash -c 'echo "rank $SLURM_PROCID of $SLURM_GPUS_ON_NODE"'
