#!/bin/bash
#SBATCH -J torchrun
#SBATCH -N 2
#SBATCH --ntasks-per-node=1
#SBATCH -t 5

# The environment has a launcher of its own.
mkdir -p env/bin
cat > env/bin/torchrun <<'EOF'
#!/bin/bash
while [[ $1 == --* ]]; do
  case $1 in
    --nproc_per_node=*) per_node=${1#*=} ;;
    --nnodes=*) nodes=${1#*=} ;;
    --node_rank=*) node=${1#*=} ;;
  esac
  shift
done
for ((i = 0; i < per_node; i++)); do
  echo "rank $((node * per_node + i)) of $((nodes * per_node)) runs $*"
done
EOF
chmod +x env/bin/torchrun
export PATH=$PWD/env/bin:$PATH

export MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
export MASTER_PORT=29501
GPUS_PER_NODE=2

export LAUNCHER="torchrun \
    --nproc_per_node=$GPUS_PER_NODE \
    --nnodes=$SLURM_NNODES \
    --master_addr=$MASTER_ADDR \
    --master_port=$MASTER_PORT \
    "
export CMD="train.py --lr 1e-3 --batch-size 32"

srun --jobid $SLURM_JOB_ID bash -c "$LAUNCHER --node_rank=\$SLURM_PROCID $CMD"
