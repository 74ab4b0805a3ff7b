#!/bin/bash
#SBATCH --job-name=conda
#SBATCH --ntasks=1
#SBATCH --time=5

CONDA_ROOT=$HOME/no-such-miniconda3
if [ -e "$CONDA_ROOT/etc/profile.d/conda.sh" ]; then
  . "$CONDA_ROOT/etc/profile.d/conda.sh"
  conda activate train
else
  echo "no conda, so the system's python"
fi
srun python3 -c 'print("trains")'
