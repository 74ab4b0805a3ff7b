#!/bin/bash
#SBATCH --job-name=quotes
#SBATCH --ntasks=1
#SBATCH --time=5

srun -n1 printf '<%s>\n' "two words" '' 'it'"'"'s' '*' $'tab\there' 'ünï' '$HOME' '\n'
export TEXT=$'first line\nsecond "line"'
srun -n1 bash -c 'echo "$TEXT"'
args=(--name "a b" --empty "")
srun -n1 bash -c 'echo "$# arguments, the last is <${@: -1}>"' bash "${args[@]}"
