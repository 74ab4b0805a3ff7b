#!/bin/bash
#SBATCH --job-name=ray
#SBATCH --nodes=3
#SBATCH --ntasks-per-node=1
#SBATCH --time=5

nodes=$(scontrol show hostnames "$SLURM_JOB_NODELIST")
nodes_array=($nodes)
head_node=${nodes_array[0]}
port=6379
ip_head=$head_node:$port
export ip_head

echo "STARTING HEAD"
srun --nodes=1 --ntasks=1 -w "$head_node" bash -c "echo ray start --head --node-ip-address=$head_node" &
wait
worker_num=$((SLURM_JOB_NUM_NODES - 1))
for ((i = 1; i <= worker_num; i++)); do
  node_i=${nodes_array[$i]}
  echo "STARTING WORKER $i at $node_i"
  srun --nodes=1 --ntasks=1 -w "$node_i" bash -c 'echo "worker of $ip_head on $SLURMD_NODENAME"' > worker_$i &
done
wait
cat worker_*
