#!/bin/bash
#SBATCH --job-name=modules
#SBATCH --ntasks=1
#SBATCH --time=5

if [ -f /etc/profile.d/no-such-modules.sh ]; then
  source /etc/profile.d/no-such-modules.sh
  module purge
  module load cuda/12.1 python/3.11
fi
export CUDA_HOME=${CUDA_HOME:-/usr/local/cuda}
srun echo "CUDA_HOME is $CUDA_HOME"
