cd "$(dirname "$0")" || exit 1
export RANK=${SLURM_PROCID:-0}
if [ $# -gt 0 ]; then # beside a rank: its number, and a program
  RANK=$1 ATTEMPT=$(cat attempt)
  shift
  beside=yes
fi
fact() { echo "$2" > ".$1.$$" && mv ".$1.$$" "$1" && : > "$BELL"; } # a file with one line
place="$PWD/attempt-$ATTEMPT/rank-$RANK"
if [ -z "$beside" ]; then
  (cd "attempt-$ATTEMPT" && fact "rank-$RANK.started" "$SLURMD_NODENAME $(date +%s)")
  exec >> "$place.log" 2>&1 < /dev/null
fi
