#!/bin/bash
#SBATCH --job-name=accelerate
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --time=0:05:00

set -e

accelerate() {
  echo "accelerate $*"
}
export -f accelerate

cat > accelerate.yaml <<EOF
compute_environment: LOCAL_MACHINE
distributed_type: MULTI_GPU
main_process_port: 29500
num_machines: $SLURM_NNODES
num_processes: $((SLURM_NNODES * 2))
EOF
cat accelerate.yaml

srun bash -c 'accelerate launch --config_file accelerate.yaml --machine_rank $SLURM_NODEID run.py'
