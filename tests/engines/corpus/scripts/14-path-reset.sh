#!/bin/bash
#SBATCH --job-name=path
#SBATCH --ntasks=1
#SBATCH --time=5

# Some profiles set PATH anew, so the script says where srun is.
SRUN=$(command -v srun)
scontrol=$(type -p scontrol)
export PATH=/usr/local/bin:/usr/bin:/bin
type -p true > /dev/null && echo "true is there"
"${SRUN:-srun}" -n 1 bash -c 'echo "PATH has ${PATH##*:}"'
"$scontrol" show hostnames a[1-3] | xargs
