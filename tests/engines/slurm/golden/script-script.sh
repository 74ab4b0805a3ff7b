#!/bin/bash
#SBATCH --job-name=ddp-test1
#SBATCH --partition=gpu
#SBATCH --time=9:00:00

### One process for each GPU
### Change these values
#SBATCH --nodes=3
#SBATCH --ntasks-per-node=2
#SBATCH --gres=gpu:2
#SBATCH --cpus-per-task=1
#SBATCH --mem=1G
#SBATCH --chdir=/shared/cifar10_example
#SBATCH --output=slurm_monitoring/%x-%j.out

export MASTER_PORT=9304
export WORLD_SIZE=6
master_addr=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
export MASTER_ADDR=$master_addr

source ~/.bashrc
source /opt/conda/etc/profile.d/conda.sh
conda activate ddp

srun python train_ddp_test_CIFAR10.py
