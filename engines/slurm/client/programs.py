"""The programs that change something on the cluster: each does its part in one call, and may be
called twice. Their arguments are folders and names, never a value that somebody chose."""

# Makes the folder of a run, and hands its script over. Where the folder is there already, somebody
# was here before: whoever calls looks first what became of it. $1 directory, $2 workload's folder,
# $3 run, $4 "again" after that look; the files come packed on the standard input.
SUBMIT = r"""
umask 077
cd "$1" || exit 4
mkdir -p changed "$2/runs" "$2/ranks" "$2/checkpoints" || exit 4
d="$2/runs/$3"
if ! mkdir "$d" 2>/dev/null; then
  [ -d "$d" ] || exit 4
  if [ "$4" != again ]; then cat > /dev/null; echo again; exit 0; fi
fi
tar -xf - -C "$d" || exit 4
echo "$3" > "$2/.run" && mv "$2/.run" "$2/run" || exit 4
cd "$d" || exit 4
id=$(env -i PATH="$PATH" HOME="$HOME" USER="$USER" LOGNAME="$LOGNAME" SHELL="$SHELL" LANG=C.UTF-8 \
  ${SLURM_CONF:+SLURM_CONF="$SLURM_CONF"} sbatch --parsable --export=ALL batch.sh) || exit 3
echo "${id%%;*}" > .job && mv .job job
echo "submitted ${id%%;*}"
"""

# A job that was found: the run has it. $1 folder of the run, $2 its id.
ADOPT = r"""
cd "$1" && echo "$2" > .job && mv .job job
"""

# A run that Slurm refused leaves nothing. $1 workload's folder, $2 run.
WITHDRAW = r"""
cd "$1" || exit 0
rm -rf "runs/$2"
[ "$2" -gt 1 ] && echo $(($2 - 1)) > .run && mv .run run && exit 0
cd / && rm -rf "$1"
"""

# The wish first, which the script of the job sees whenever it looks; then the job is told: one that
# waits goes at once, one that runs ends its ranks. $1 folder of the run, $2 name of the job.
STOP = r"""
cd "$1" 2>/dev/null || exit 0
[ -e finished ] || [ -e ended ] && exit 0
: > stop
jobs=$(squeue --noheader --me --name="$2" --format='%i %T') || exit 3
jobs=$(echo "$jobs" | sed 's/+[0-9]* / /' | sort -u) # parts of one job
echo "$jobs" | while read -r id state; do
  case $state in
    '') ;;
    PENDING|CONFIGURING|REQUEUED|REQUEUE_HOLD|SPECIAL_EXIT) scancel --name="$2" "$id" ;;
    *) scancel --name="$2" --batch --signal=TERM "$id" ;;
  esac
done
"""

# $1 folder of the workload, $2… names of its jobs. Prints those that are still there.
KILL = r"""
w=$1
shift
for name; do
  ids=$(squeue --noheader --me --name="$name" --format=%i) || exit 3
  ids=$(echo "$ids" | sed 's/+.*//' | sort -u) # parts of one job
  for id in $ids; do
    scancel --name="$name" --full --signal=KILL "$id" 2>/dev/null
    scancel --name="$name" "$id" 2>/dev/null
  done
  [ -z "$ids" ] || echo $ids
done
exit 0
"""

# Bells of what ended a while ago say nothing new. $1 directory.
PRUNE = r"""
cd "$1/changed" 2>/dev/null || exit 0
find . -type f -mmin +10 -printf '%f\n' | while read -r w; do
  d="../workloads/$w"
  [ -e "$d/run" ] && read -r r < "$d/run" && [ ! -e "$d/runs/$r/finished" ] &&
    [ ! -e "$d/runs/$r/ended" ] || rm -f "$w"
done
exit 0
"""

# $1 directory, $2 workload's folder, $3 its bell.
REMOVE = r"""
cd "$1" || exit 0
rm -rf "$2" "$3" || { sleep 1; rm -rf "$2" "$3"; }
[ ! -e "$2" ]
"""

# What Slurm said of a job at its end is kept, and its secrets go. $1 folder of the run; the line
# comes on the standard input.
WRITE_END = r"""
cd "$1" || exit 0
cat > .ended && mv .ended ended
rm -rf environment.sh keys volumes
"""
