# The shim: parent of the child, leader of its session, about 1 MiB. It claims the one start, keeps the child's output on files,
# enforces the hard limit even when no worker lives, and writes exit.json by rename when the child has ended.
#   $1 job folder  $2 whole seconds to the hard limit  $3 kill grace in whole seconds  $4 stdin of the child
#   $5 umask of the child  $6 mark of the job in the environment, or nothing: only our session counts  $7 cgroup of the tree, or nothing
#   $8... the command (absolute path first)
# Every variable begins with _jc_, because one that the caller exported would reach the child changed.
_jc_job=$1 _jc_limit=$2 _jc_grace=$3 _jc_input=$4 _jc_mask=$5 _jc_mark=$6 _jc_cgroup=$7
shift 7
umask 077
_jc_has_path=${PATH+yes} _jc_path=${PATH-}
PATH=$_jc_path:/usr/bin:/bin

mkdir "$_jc_job/started" 2>/dev/null || exit 121
exec </dev/null >/dev/null 2>&1
# We are told to end through files only; what a TERM to the whole group means is for the child to say.
trap : HUP INT QUIT PIPE ALRM TERM USR1 USR2

_jc_self() { # a line that says who runs this: pid and start time
  if read -r _jc_line </proc/self/stat; then printf '%s\n' "$_jc_line"; else
    sh -c 'echo "$PPID" "$(LC_ALL=C ps -o lstart= -p "$PPID")"'
  fi
}
# Room for what must be written later is taken now, so that a disk which fills up cannot lose it.
_jc_self >"$_jc_job/started/shim" && printf '%-160s\n' '{}' >"$_jc_job/started/exit" &&
  printf '%-500s\n' ' ' >"$_jc_job/started/child" && : >"$_jc_job/started/notes" || exit 122
# alive.fifo tells a worker that re-attached of our end; limit.fifo tells the guard of the end of our sleep.
mkfifo -m 600 "$_jc_job/started/alive.fifo" "$_jc_job/started/limit.fifo" && exec 9<>"$_jc_job/started/alive.fifo"

_jc_members() { # "pid start" of the tree: our session or group, and whoever carries the mark
  if [ ! -r /proc/self/stat ]; then
    ps -axo pid=,pgid= | while read -r _jc_pid _jc_group; do [ "$_jc_group" = $$ ] && echo "$_jc_pid -"; done
    return
  fi
  for _jc_file in /proc/[0-9]*/stat; do
    read -r _jc_line <"$_jc_file" || continue
    # shellcheck disable=SC2086
    set -- ${_jc_line##*) }
    [ "$1" != Z ] && { [ "$3" = $$ ] || [ "$4" = $$ ]; } && echo "${_jc_line%% *} ${20}"
  done
  [ -n "$_jc_cgroup" ] && while read -r _jc_pid; do
    read -r _jc_line <"/proc/$_jc_pid/stat" || continue
    # What carries a mark is found below, or belongs to a job that was started inside this one.
    grep -qs JOB_COMPANION_MARK= "/proc/$_jc_pid/environ" && continue
    # shellcheck disable=SC2086
    set -- ${_jc_line##*) }
    [ "$1" != Z ] && echo "$_jc_pid ${20}"
  done <"$_jc_cgroup/cgroup.procs"
  # An empty mark would be found in the processes of every job.
  [ -z "$_jc_mark" ] && return
  grep -ls "JOB_COMPANION_MARK=$_jc_mark" /proc/[0-9]*/environ | while IFS=/ read -r _ _ _jc_pid _; do
    grep -qs JOB_COMPANION_ROLE=worker "/proc/$_jc_pid/environ" && continue
    read -r _jc_line <"/proc/$_jc_pid/stat" || continue
    # shellcheck disable=SC2086
    set -- ${_jc_line##*) }
    [ "$1" != Z ] && echo "$_jc_pid ${20}"
  done
}

_jc_strike() { # send signal $1 to the tree; true when somebody was there
  _jc_hit=
  _jc_list=$(_jc_members | sort -u)
  while read -r _jc_pid _jc_start; do
    case $_jc_pid in '' | $$ | "$_jc_guard" | "$_jc_sleep") continue ;; esac
    if [ "$_jc_start" != - ]; then # the same process still?
      read -r _jc_line <"/proc/$_jc_pid/stat" || continue
      # shellcheck disable=SC2086
      set -- "$1" ${_jc_line##*) }
      [ "${21}" = "$_jc_start" ] || continue
    fi
    kill "-$1" "$_jc_pid" && _jc_hit=yes
  done <<LIST
$_jc_list
LIST
  [ -n "$_jc_hit" ]
}

_jc_until_limit() {
  if [ -p "$_jc_job/started/limit.fifo" ]; then
    read -r _ <"$_jc_job/started/limit.fifo" # ends when the sleep that holds the other end does
  fi
  # No FIFOs here, or somebody killed our sleep: in slices, so that a killed guard leaves no long sleep behind.
  while _jc_limit=$((_jc_end - $(_jc_now))) && [ "$_jc_limit" -gt 0 ]; do
    sleep "$((_jc_limit < 5 ? _jc_limit : 5))"
  done
}

_jc_now() {
  if read -r _jc_line </proc/uptime; then echo "${_jc_line%%.*}"; else date +%s; fi
}

_jc_watch() { # the guard: strikes at the limit, whoever else is alive
  trap '' HUP INT QUIT PIPE ALRM TERM USR1 USR2
  _jc_guard=$(_jc_self_pid)
  _jc_until_limit
  [ -e "$_jc_job/exit.json" ] && exit 0
  : >"$_jc_job/started/struck"
  # The first reason wins: a worker that struck before us has told the tree already.
  (set -C && echo hard_timeout >"$_jc_job/started/reason") && _jc_strike TERM
  while [ "$_jc_grace" -gt 0 ] && _jc_strike 0; do
    sleep 1
    _jc_grace=$((_jc_grace - 1))
  done
  _jc_rounds=0
  while [ "$_jc_rounds" -lt 20 ] && _jc_strike KILL; do
    sleep 1
    _jc_rounds=$((_jc_rounds + 1))
  done
}

_jc_self_pid() { # of the shell that calls this in $( ): its parent
  if read -r _jc_line </proc/self/stat; then
    # shellcheck disable=SC2086
    set -- ${_jc_line##*) }
    echo "$2"
  else
    sh -c 'ps -o ppid= -p "$PPID"' | tr -d ' '
  fi
}

_jc_sleep=
_jc_end=$(($(_jc_now) + _jc_limit))
if [ -p "$_jc_job/started/limit.fifo" ]; then
  (trap '' HUP INT QUIT PIPE ALRM TERM USR1 USR2 && exec sleep "$_jc_limit") >"$_jc_job/started/limit.fifo" 9>&- &
  _jc_sleep=$!
fi
_jc_watch 9>&- &
_jc_guard=$!
echo "$_jc_guard $_jc_sleep" >"$_jc_job/started/guard"

# bash as sh says nothing of signals in its POSIX mode.
[ -n "${BASH_VERSION-}" ] && set +o posix
# In the foreground, because a shell without job control makes its background commands ignore SIGINT. What the shell
# says of the child's end (killed by a signal, not just a code above 128) goes to `notes`.
command exec 2>"$_jc_job/started/notes"
(
  [ -n "$_jc_cgroup" ] && { echo 0 >"$_jc_cgroup/cgroup.procs"; } 2>/dev/null
  _jc_self 1<>"$_jc_job/started/child"
  umask "$_jc_mask"
  if [ -n "$_jc_has_path" ]; then PATH=$_jc_path; else unset PATH; fi
  trap 'umask 077 && echo yes >"$_jc_job/started/spawn_failed"' EXIT
  exec "$@"
) <"$_jc_input" >>"$_jc_job/output.log" 2>>"$_jc_job/error.log" 9>&-
_jc_code=$?

exec 2>/dev/null
_jc_signaled=false _jc_failed=false
[ "$_jc_code" -gt 128 ] && [ -s "$_jc_job/started/notes" ] && _jc_signaled=true
[ -e "$_jc_job/started/spawn_failed" ] && _jc_failed=true
printf '{"exit_code":%d,"signaled":%s,"spawn_failed":%s}' "$_jc_code" "$_jc_signaled" "$_jc_failed" 1<>"$_jc_job/started/exit"
# Whoever ends the tree may hit this very mv, which is of our session: then once more.
_jc_tries=0
until [ -e "$_jc_job/exit.json" ] || [ "$_jc_tries" -ge 20 ]; do
  mv -f "$_jc_job/started/exit" "$_jc_job/exit.json"
  _jc_tries=$((_jc_tries + 1))
done
# A guard that has struck goes on until the whole tree is gone. Else it comes first: the end of the sleep is its signal.
if [ ! -e "$_jc_job/started/struck" ]; then
  kill -9 "$_jc_guard"
  [ -n "$_jc_sleep" ] && kill -9 "$_jc_sleep"
fi
# Gone before we are, so that nobody takes them for something the child left behind.
wait
exit "$_jc_code"
