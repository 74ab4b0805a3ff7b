# Sets up what Trainyard needs around a batch script, then runs the script unchanged.
run=$(cd "$(dirname "$0")" && pwd) || exit 1
log=$run/attempt-$ATTEMPT
fact() { echo "$2" > ".$1" && mv ".$1" "$1" && : > "$BELL"; } # write a one-line file atomically
(cd "$log" && fact rank-0.started "$SLURMD_NODENAME $(date +%s)")
chmod 700 "$run/script.sh" "$run/rank.sh" "$run/bin/srun"
# Unless srun has other options, each task records that it started, and one that fails ends the
# others.
export SLURM_TASK_PROLOG="$run/rank.sh" SLURM_KILL_BAD_EXIT=1
# The way in which the log of the job is opened is not for the files of its steps.
if [ -n "$OPEN_MODE" ]; then SLURM_OPEN_MODE=${OPEN_MODE:0:1}; else unset SLURM_OPEN_MODE; fi
. "$run/environment.sh"
export PATH=$run/bin:$PATH # our srun comes first
# A login shell sets PATH anew, so it needs a function. Elsewhere one would hide the process of srun
# from "srun … & kill $!".
if head -n 1 "$run/script.sh" | grep -Eq ' (-[a-z]*l[a-z]*|--login)( |$)'; then
  eval "srun() { '$run/bin/srun' \"\$@\"; }"
  export -f srun
fi
exec >> "$log/rank-0.log" 2>&1 < /dev/null
mkdir -p "$OWN" && cd "$OWN" && cd "$PLACE" || exit 1
read -r mask < "$run/.umask" # the script and its steps have the umask of the login
umask "$mask"
export SLURM_UMASK=$mask
export SLURM_JOB_NAME=$NAME SLURM_SUBMIT_DIR=$PWD
exec "$run/script.sh" "$@"
