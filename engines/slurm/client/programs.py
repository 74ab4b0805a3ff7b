"""Shell programs that change something on the cluster. Each needs one call and may be called
twice. Their arguments are folders and names, never values that users choose."""

from engines.slurm.client import files

# Runs a program in a clean environment, because a job inherits the environment of its submission.
# $1 is the program, $2… are its arguments.
CLEAN_ENVIRONMENT = r"""
program=$1
shift
exec env -i PATH="$PATH" HOME="$HOME" USER="$USER" LOGNAME="$LOGNAME" SHELL="$SHELL" LANG=C.UTF-8 \
  ${SLURM_CONF:+SLURM_CONF="$SLURM_CONF"} sh -c "$program" sh "$@"
"""

# Creates the folders of runs, and submits their scripts one after the other. If a run's folder
# exists, there was an earlier try, whose result the caller has to find out before it calls with
# "again". Once Slurm does not answer, the remaining runs are not tried. $1 is the directory, $2 the
# umask; three arguments follow for each run: its workload's folder, its number, and "new" or
# "again". The standard input is a tar archive of the files, with paths relative to the directory.
# Prints the number and outcome of each run, and Slurm's message for a refusal. Starting a process
# costs as much as submitting a job, so each run starts only one: sbatch. The umask of the login is
# for the programs of the job, and that in $2 for our files.
SUBMIT = r"""
login=$(umask)
umask "$2"
set -f
cd "$1" || exit 4
shift 2
parents=changed plan="$*"
while [ $# -gt 0 ]; do
  parents="$parents $1/runs $1/ranks $1/checkpoints"
  shift 3
done
mkdir -p $parents || exit 4
folders=
set -C
set -- $plan
while [ $# -gt 0 ]; do
  if [ "$3" = again ] || { [ ! -d "$1/runs/$2" ] && { true > "$1/runs/.$2"; } 2> /dev/null; }; then
    folders="$folders $1/runs/$2"
  elif [ ! -d "$1/runs/$2" ] && [ ! -e "$1/runs/.$2" ]; then
    exit 4
  fi
  shift 3
done
set +C
if [ -n "$folders" ]; then tar -xf - $folders || exit 4; else cat > /dev/null; fi
number=0 away=
set -- $plan
while [ $# -gt 0 ]; do
  d="$1/runs/$2"
  case " $folders " in
    *" $d "*)
      if [ -n "$away" ]; then
        [ "$3" = again ] || rm -rf "$d" "$1/runs/.$2"
        echo "$number late"
      else
        if [ "$2" = 1 ]; then
          echo 1 > "$1/run"
        else
          echo "$2" > "$1/.run" && mv "$1/.run" "$1/run"
        fi || exit 4
        echo "$login" > "$d/.umask"
        if said=$(cd "$d" && exec sbatch --parsable batch.sh 2>&1 > .job); then
          read -r id < "$d/.job"
          echo "${id%%;*}" > "$d/job"
          echo "$number submitted"
        else
          echo "$number refused $(echo $said)"
          case $said in *imed\ out*|*contact*|*Zero\ Bytes*|*onnect*|*unning*) away=yes ;; esac
        fi
      fi ;;
    *) echo "$number again" ;;
  esac
  number=$((number + 1))
  shift 3
done
exit 0
"""

# Opens the directory to people who submit under their own names: each may create folders there,
# which belong to the group of the user who runs this, but list none. $1 is the directory.
OPEN_DIRECTORY = r"""
cd "$1" && mkdir -p changed workloads && chmod a+x . && chmod 3733 changed workloads
"""

# Records a job that was found as that of the run. $1 is the folder of the run, $2 the job's id.
ADOPT = r"""
cd "$1" && echo "$2" > .job && mv .job job
"""

# Removes a run that Slurm refused. $1 is the workload's folder, $2 the run.
WITHDRAW = r"""
cd "$1" || exit 0
rm -rf "runs/$2" "runs/.$2"
[ "$2" -gt 1 ] && echo $(($2 - 1)) > .run && mv .run run && exit 0
cd / && rm -rf "$1"
"""

# Records first that the run shall stop, for the script of the job, and then signals the job: one
# that waits is canceled, one that runs ends its ranks. It does nothing if the run is gone, but
# fails if its directory is away. $1 is the folder of the run, $2 the name of the job.
STOP = r"""
cd "${1%/*/*/*}" || exit 4
cd "$1" 2>/dev/null || exit 0
[ -e finished ] || [ -e ended ] && exit 0
: > stop
me=$(id -un)
jobs=$(squeue --noheader --me --name="$2" --format='%i %T') || exit 3
jobs=$(echo "$jobs" | sed 's/+[0-9]* / /' | sort -u) # parts of one job
echo "$jobs" | while read -r id state; do
  case $state in
    '') ;;
    PENDING|CONFIGURING|REQUEUED|REQUEUE_HOLD|SPECIAL_EXIT)
      scancel --user="$me" --name="$2" "$id" ;;
    *) scancel --user="$me" --name="$2" --batch --signal=TERM "$id" ;;
  esac
done
"""

# Kills jobs and prints the ids of those that have not ended. $1 is the folder of the workload, $2…
# are the names of its jobs.
KILL = r"""
w=$1 me=$(id -un)
shift
for name; do
  ids=$(squeue --noheader --me --name="$name" --format=%i) || exit 3
  ids=$(echo "$ids" | sed 's/+.*//' | sort -u) # parts of one job
  for id in $ids; do
    scancel --user="$me" --name="$name" --full --signal=KILL "$id" 2>/dev/null
    scancel --user="$me" --name="$name" "$id" 2>/dev/null
  done
  [ -z "$ids" ] || echo $ids
done
exit 0
"""

# Removes the bells of runs that ended a while ago. Requires last_run. $1 is the directory.
PRUNE_BELLS = r"""
cd "$1/changed" 2>/dev/null || exit 0
find . -type f -mmin +10 -printf '%f\n' | while read -r w; do
  d="../workloads/$w"
  last_run "$d" && [ ! -e "$d/runs/$r/finished" ] &&
    [ ! -e "$d/runs/$r/ended" ] || rm -f "$w"
done
exit 0
"""

# Removes a workload. $1 is the directory, $2 the workload's folder, $3 its bell.
REMOVE = r"""
cd "$1/workloads" && cd .. || exit 4
rm -rf "$2" "$3" || { sleep 1; rm -rf "$2" "$3"; }
[ ! -e "$2" ]
"""

# Stores what Slurm reported about ended jobs, and removes their secrets. $1 is the directory. The
# standard input has a line for each job, which begins with the folder of its run.
WRITE_ENDS = r"""
ENTER
cd -P "$1" || exit 0
shared=$(pwd -P)
while read -r d line; do
  enter "$d" || continue
  rm -rf .ended environment.sh files keys volumes
  # a new file: nothing is written to where a link leads, and no pipe is waited for
  printf '%s\n' "$line" | dd of=.ended conv=excl status=none 2>/dev/null && mv -T .ended ended
done
exit 0
""".replace("ENTER", files.ENTER)
