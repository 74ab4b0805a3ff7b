#!/bin/bash
#SBATCH --job-name=subshells
#SBATCH --ntasks=1
#SBATCH --time=5

mkdir -p a b
( cd a && srun -n1 bash -c 'echo a > file' ) && ( cd b && srun -n1 bash -c 'echo b > file' )
pushd a > /dev/null
srun -n1 cat file
popd > /dev/null
{ srun -n1 cat b/file; srun -n1 echo "$BASH_SUBSHELL"; }
