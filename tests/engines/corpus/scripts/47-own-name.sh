#!/bin/bash
#SBATCH --job-name=own
#SBATCH --ntasks=1
#SBATCH --time=5

# The script reads its own options.
grep -c '^#SBATCH' "$0"
sed -n 's/^#SBATCH --job-name=//p' "$0"
echo "arguments: $#"
head -n 1 "$0"
[ -x "$0" ] && echo "can be run"
