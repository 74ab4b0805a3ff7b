# Sets up what Trainyard needs around a batch script, then runs the script unchanged.
run=$(cd "$(dirname "$0")" && pwd) || exit 1
log=$run/attempt-$ATTEMPT
fact() { echo "$2" > ".$1" && mv ".$1" "$1" && : > "$BELL"; } # write a one-line file atomically
(cd "$log" && fact rank-0.started "$SLURMD_NODENAME $(date +%s)")
chmod 700 "$run/script.sh" "$run/rank.sh"
# Unless srun has other options, each task prints to its own file and records that it started, and
# one that fails ends the others.
export SLURM_STDOUTMODE="$log/rank-%t.log" SLURM_OPEN_MODE=a SLURM_TASK_PROLOG="$run/rank.sh"
export SLURM_KILL_BAD_EXIT=1
. "$run/environment.sh"
exec >> "$log/rank-0.log" 2>&1 < /dev/null
mkdir -p "$OWN" && cd "$OWN" && cd "$PLACE" || exit 1
export SLURM_JOB_NAME=$NAME SLURM_SUBMIT_DIR=$PWD
exec "$run/script.sh"
