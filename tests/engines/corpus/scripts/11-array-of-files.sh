#!/bin/bash
#SBATCH -J files
#SBATCH -n 1
#SBATCH -t 5

seq -f 'input_%02g.txt' 1 5 > list.txt
line=$(( ${SLURM_ARRAY_TASK_ID:-2} ))
INPUT=$(sed -n "${line}p" list.txt)
printf 'some words\nand more\n' > "$INPUT"
srun wc -w "$INPUT"
