name_hosts() { # the names of all ranks, line by line, before those of this node. $1… their addresses
  local names at
  while read -r names; do
    read -r at _ < <(getent hosts "$1") # it may be a name, which a file of hosts cannot contain
    echo "${at:-$1} $names"
    shift
  done
  cat /etc/hosts
}
[ -n "$beside" ] || name_hosts $HOSTS > "$own.hosts" << 'END'
