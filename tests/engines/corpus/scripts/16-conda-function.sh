#!/bin/bash
#SBATCH --nodes=1
#SBATCH --job-name=conda
#SBATCH --ntasks=2
#SBATCH --time=5

conda() { case $1 in activate) export CONDA_DEFAULT_ENV=$2 ;; deactivate) unset CONDA_DEFAULT_ENV ;; esac; }
conda activate ddp
srun bash -c 'echo "env $CONDA_DEFAULT_ENV"'
conda deactivate
srun bash -c 'echo "env ${CONDA_DEFAULT_ENV-none}"'
