cd "$(dirname "$0")" || exit 1
export RANK=${SLURM_PROCID:-0}
if [ $# -gt 0 ]; then # run a program next to a rank: $1 its number, then the program
  RANK=$1 ATTEMPT=$(cat attempt)
  shift
  beside=yes
fi
ours=$(umask)
fact() { # write a one-line file atomically
  umask "$ours"
  echo "$2" > ".$1.$$" && mv ".$1.$$" "$1" && : > "$BELL"
}
place="$PWD/attempt-$ATTEMPT/rank-$RANK"
if [ -z "$beside" ]; then
  (cd "attempt-$ATTEMPT" && fact "rank-$RANK.started" "$SLURMD_NODENAME $(date +%s)")
  exec >> "$place.log" 2>&1 < /dev/null
fi
read -r mask < .umask # programs have the umask of the login
umask "$mask"
export SLURM_UMASK=$mask
