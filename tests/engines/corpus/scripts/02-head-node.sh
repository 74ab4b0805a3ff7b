#!/bin/bash
#SBATCH --job-name=multinode-example
#SBATCH --nodes=2
#SBATCH --ntasks=2
#SBATCH --cpus-per-task=2
#SBATCH --time=5

nodes=( $( scontrol show hostnames $SLURM_JOB_NODELIST ) )
nodes_array=($nodes)
head_node=${nodes_array[0]}
head_node_ip=$(srun --nodes=1 --ntasks=1 -w "$head_node" printenv SLURMD_NODENAME)

echo Node IP: $head_node_ip
export LOGLEVEL=INFO

srun bash -c "echo torchrun --nnodes 2 --nproc_per_node 1 --rdzv_id \$((SLURM_JOB_ID > 0)) \
  --rdzv_backend c10d --rdzv_endpoint $head_node_ip:29500 multinode_torchrun.py 50 10"
