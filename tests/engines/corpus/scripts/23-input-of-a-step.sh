#!/bin/bash
#SBATCH --nodes=1
#SBATCH --job-name=input
#SBATCH --ntasks=2
#SBATCH --time=5

srun cat <<EOF
the configuration of $SLURM_JOB_NAME
EOF
printf 'b\na\n' | srun sort
srun --input=none cat
echo "read by the script only" > note
srun -n1 -N1 wc -l < note
