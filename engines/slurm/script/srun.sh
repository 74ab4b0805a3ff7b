# The srun that a batch script finds first. Each task prints to the log of its rank, unless the
# script takes the output elsewhere: by $( ), a pipe, a redirection or an option of srun.
run=$(cd "$(dirname "$0")/.." && pwd) || exit 1
read -r attempt < "$run/attempt"
log=$run/attempt-$attempt
unset -f srun # tasks find the usual one
PATH=:$PATH:
PATH=${PATH//":$run/bin:"/:}
PATH=${PATH#:}
PATH=${PATH%:}

own_output=$SLURM_STDOUTMODE own_error=$SLURM_STDERRMODE is_value= has_other_program=
program=0 # its position among the words
for word; do # the options of srun, which end at its program
  program=$((program + 1))
  if [ -n "$is_value" ]; then
    is_value=
    continue
  fi
  case $word in
    --pty*) exec srun "$@" ;; # cannot have a log
    --ou*) own_output=yes ;;&
    --er*) own_error=yes ;;&
    --container*|--multi*) has_other_program=yes ;;&
    --*=*) ;;
    --contiguous|--disable-status|--exact|--exclusive|--get-user-env|--help|--hold|--immediate) ;;
    --interactive|--join|--kill-on-bad-exit|--label|--multi-prog|--nice|--no-allocate) ;;
    --no-kill|--overcommit|--overlap|--oversubscribe|--preserve-env|--propagate|--quiet) ;;
    --quit-on-interrupt|--reboot|--resv-ports|--spread-job|--test-only|--unbuffered|--usage) ;;
    --use-min-nodes|--verbose|--version|--whole|--x11) ;;
    --?*) is_value=yes ;;
    -[!-]*)
      letters=${word#-}
      while [ -n "$letters" ]; do
        letter=${letters:0:1}
        letters=${letters:1}
        case $letter in
          [EhHlOQRsuvVXZ]) continue ;;
          [IkK]) break ;; # a value can only follow at once
          o) own_output=yes ;;
          e) own_error=yes ;;
        esac
        [ -n "$letters" ] || is_value=yes
        break
      done ;;
    *) break ;;
  esac
done

options=()
if [ -z "$own_output" ] && [ /dev/stdout -ef "$log/rank-0.log" ]; then
  options=(--output="$log/rank-%t.log" --open-mode=append)
  # Errors follow the output, unless they already go elsewhere.
  [ /dev/stderr -ef "$log/rank-0.log" ] || options+=(--error=all)
elif [ -z "$own_output$own_error" ] && [ /dev/stderr -ef "$log/rank-0.log" ]; then
  options=(--error="$log/rank-%t.log" --open-mode=append)
fi

is_shell() { # whether a program is a shell or a script for one
  local first
  case ${1##*/} in sh|bash|dash|ksh|zsh) return 0 ;; esac
  first=$(type -P "$1") && first=$(head -c 64 "$first" | tr -d '\0' | head -n 1)
  grep -Eq '^#! *[^ ]*/(env +)?(ba|da|k|z)?sh( |$)' <<< "$first"
}
word=
[ "$program" = 0 ] || word=${!program}
case " $* " in *' : '*) has_other_program=yes ;; esac # several programs
if [ -z "$has_other_program" ] && [ "${word#-}" = "$word" ] && is_shell "$word"; then
  # By its path, because a task may have no PATH.
  set -- "${@:1:program-1}" "$BASH" "$run/keep.sh" "${@:program}"
fi
exec srun "${options[@]}" "$@"
