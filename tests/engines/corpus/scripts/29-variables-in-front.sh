#!/bin/bash
#SBATCH --nodes=1
#SBATCH --job-name=variables
#SBATCH --ntasks=2
#SBATCH --time=5

OMP_NUM_THREADS=3 NCCL_DEBUG=WARN srun bash -c 'echo "$OMP_NUM_THREADS $NCCL_DEBUG"'
echo "script: ${NCCL_DEBUG-unset}"
PYTHONUNBUFFERED=1 srun -n1 python3 -c 'import os; print(os.environ["PYTHONUNBUFFERED"])'
