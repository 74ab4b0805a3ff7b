#!/bin/bash
#SBATCH --job-name=deepspeed
#SBATCH --nodes=3
#SBATCH --ntasks-per-node=1
#SBATCH --gres=gpu:1
#SBATCH --time=5

function makehostfile() {
  perl -e '$slots=4; @nodes = split /\n/, qx[scontrol show hostnames $ENV{"SLURM_JOB_NODELIST"}];
print map { "$_ slots=$slots\n" } @nodes'
}
makehostfile > hostfile
cat hostfile
deepspeed() { echo deepspeed "$@"; }
deepspeed --hostfile hostfile --num_nodes $(wc -l < hostfile) train.py --deepspeed ds_config.json
