#!/bin/bash
#SBATCH --job-name=files
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=2
#SBATCH --time=5

srun -o out_%t bash -c 'echo "task $SLURM_PROCID"'
srun --output=step%s_node%n.log bash -c 'echo "node $SLURM_NODEID"'
srun -o %x_%2t.txt -e err_%t.txt bash -c 'echo padded; echo bad >&2'
for file in out_* step* files_* err_*; do
  echo "$file: $(sort $file | paste -sd' ')"
done
