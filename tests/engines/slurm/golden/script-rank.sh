#!/bin/bash
BELL=/shared/trainyard/changed/00000000000040008000000000000001
NAME=ddp-test1
OWN=/shared/trainyard/workloads/00000000000040008000000000000001/ranks/0
PLACE=/shared/cifar10_example
UMASK=077
OPEN_MODE=''
# srun runs this before each task. It also runs a program next to a rank: $1 its number, then the
# program.
run=$(cd "$(dirname "$0")" && pwd) || exit 1
if [ $# -gt 0 ]; then
  shift
  read -r mask < "$run/.umask"
  umask "$mask"
  . "$run/environment.sh"
  cd "$OWN" && cd "$PLACE" && exec "$@"
  exit 127
fi
cd "$run/attempt-$(cat "$run/attempt")" || exit 0
umask "$UMASK"
name=rank-${SLURM_PROCID:-0}.started
[ -e "$name" ] || { echo "$SLURMD_NODENAME $(date +%s)" > ".$name" && mv ".$name" "$name"; }
: > "$BELL"
# srun created the log with the umask of the login. Trainyard reads it by the group.
[ "$UMASK" = 077 ] || chmod g+r "rank-${SLURM_PROCID:-0}.log" 2> /dev/null
