#!/bin/sh
# Scenes in a real terminal: the program runs inside tmux, which draws for it; nothing sleeps. The program writes one byte to a FIFO after
# each frame (MESHPLAN_FRAME_FIFO); shell steps signal through tmux wait-for. Needs tmux, else exits 77 (skipped).
# usage: [MESHPLAN=path] tests/tui/run.sh

set -u
command -v tmux >/dev/null 2>&1 || exit 77
program=${MESHPLAN:-${top_builddir:-.}/meshplan}
[ -x "$program" ] || { echo "no program $program"; exit 1; }
program=$(cd "$(dirname "$program")" && pwd)/$(basename "$program")

dir=$(mktemp -d) || exit 1
export LC_ALL=C.UTF-8
unset TMUX NO_COLOR COLORFGBG 2>/dev/null
socket=$dir/socket
number=0
mux() { tmux -S "$socket" -f /dev/null "$@"; }
failed=0
trap 'mux kill-server 2>/dev/null; rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM

mkfifo "$dir/frames" || exit 1
exec 3<>"$dir/frames"

# One more frame, or the scene fails.
frame() {
	timeout 20 dd bs=1 count=1 <&3 >/dev/null 2>&1 || fail "no frame: $1"
}
# Frames that are already there.
drain() {
	timeout 0.05 cat <&3 >/dev/null 2>&1
}
fail() {
	echo "FAIL $scene: $1"
	failed=1
}
screen() {
	mux capture-pane -p
}
# The screen holds a text now.
holds() {
	screen | grep -qF -e "$1" || { fail "the screen does not hold \"$1\""; screen; }
}
# The screen comes to hold a text, after however many frames, at most 20 s.
becomes() {
	tries=100
	until screen | grep -qF -e "$1"; do
		tries=$((tries - 1))
		[ "$tries" -gt 0 ] || { holds "$1"; return; }
		timeout 0.2 dd bs=1 count=1 <&3 >/dev/null 2>&1
	done
}
lacks() {
	! screen | grep -qF -e "$1" || { fail "the screen still holds \"$1\""; screen; }
}
# Waits for tmux wait-for CHANNEL in the scene's shell, at most 20 s.
await() {
	timeout 20 tmux -S "$socket" wait-for "$1" || fail "no signal $1"
}
# A new terminal of 80x24 that runs a piece of shell; the program is $M there, and `ready` is signalled at the end.
# usage: terminal SHELL [TERM [LC_ALL]]
terminal() {
	mux kill-server 2>/dev/null
	number=$((number + 1))
	socket=$dir/socket$number
	printf '%s\n' "$1" '$T wait-for -S ready' >"$dir/scene.sh"
	drain
	mux new-session -d -x 80 -y 24 -s t "env -i HOME='$dir' PATH='$PATH' TERM=${2:-tmux-256color} LC_ALL=${3:-$LC_ALL} M='$program' \
		ASAN_OPTIONS='${ASAN_OPTIONS:-}' MESHPLAN_FRAME_FIFO='$dir/frames' T='env TERM=tmux-256color tmux -S $socket' D='$dir' sh '$dir/scene.sh'" \
		\; set -g status off \; set -g window-size manual \; set -g remain-on-exit on
}

scene=start
terminal 'stty -a >$D/before; $M ui; echo code $? >$D/code; stty -a >$D/after'
frame "first"
holds "FITS"
holds "MEMORY per GPU, GiB"
holds "PIPELINE 1f1b"

scene=key
mux send-keys h
frame "key h"
holds "DOES NOT FIT"
mux send-keys u
frame "key u"
lacks "DOES NOT FIT"
mux send-keys Left
frame "arrow"
holds "DOES NOT FIT"
mux send-keys Escape
frame "escape"
holds "DOES NOT FIT"

scene=resize
mux resize-window -x 160 -y 45
frame "larger"
holds "ONE STEP LEFT OR RIGHT"
mux resize-window -x 40 -y 10
frame "too small"
holds "need 60x16, have 40x10"
mux resize-window -x 80 -y 24
frame "back"
holds "MEMORY per GPU, GiB"

scene=quit
mux send-keys q
await ready
[ "$(cat "$dir/code")" = "code 0" ] || fail "exit code: $(cat "$dir/code")"
cmp -s "$dir/before" "$dir/after" || fail "the terminal is not as it was"
lacks "MEMORY per GPU, GiB"

scene=flood
# What is typed before the program starts waits for it all at once; the last of it is no key.
keys=$(printf '%0300d' 0 | sed 's/0/h/g')
terminal '$T wait-for go; $M ui'
mux send-keys -l "$keys"
mux send-keys -H 6b 1b 5b 39 39 7e
mux wait-for -S go
becomes "framework    ◄ lowest"
mux send-keys q
await ready

for signal in TERM HUP INT QUIT PIPE ALRM USR1 USR2 SEGV ABRT BUS FPE; do
	scene="signal $signal"
	terminal 'ulimit -c 0; stty -a >$D/before; sh -c "echo \$\$ >\$D/pid; exec $M ui"; stty -a >$D/after'
	frame "first"
	kill -s "$signal" "$(cat "$dir/pid")"
	await ready
	cmp -s "$dir/before" "$dir/after" || fail "the terminal is not as it was"
	lacks "MEMORY per GPU, GiB"
done

scene=suspend
terminal 'set -m; $M ui; $T wait-for -S stopped; $T wait-for go; fg'
frame "first"
mux send-keys C-z
await stopped
lacks "MEMORY per GPU, GiB"
mux resize-window -x 100 -y 30
mux wait-for -S go
frame "continued"
holds "MEMORY per GPU, GiB"
[ "$(screen | grep -c .)" -ge 20 ] || fail "the screen is not complete after fg"
mux send-keys q
await ready

# gone TMUX-COMMANDS: the terminal goes away by them, and the program with it.
gone() {
	terminal 'trap "" HUP; sh -c "echo \$\$ >\$D/pid; exec $M ui"'
	frame "first"
	pid=$(cat "$dir/pid")
	mux "$@"
	tries=0
	while kill -0 "$pid" 2>/dev/null && [ $tries -lt 400 ]; do
		tries=$((tries + 1))
		timeout 0.05 cat <&3 >/dev/null 2>&1
	done
	if kill -0 "$pid" 2>/dev/null; then
		fail "the program outlives its terminal"
		kill -s KILL "$pid"
	fi
}

scene="terminal gone"
gone kill-server

scene="terminal gone while quitting"
gone send-keys q \; kill-server

scene="resize storm"
terminal '$M ui; echo code $? >$D/code'
frame "first"
n=0
while [ $n -lt 40 ]; do
	mux resize-window -x $((20 + n * 37 % 180)) -y $((5 + n * 13 % 60)) \; send-keys h l
	n=$((n + 1))
done
mux resize-window -x 80 -y 24
tries=0
until screen | grep -qF "MEMORY per GPU, GiB" || [ $tries -ge 200 ]; do
	tries=$((tries + 1))
	timeout 0.05 cat <&3 >/dev/null 2>&1
done
holds "MEMORY per GPU, GiB"
mux send-keys q
await ready
[ "$(cat "$dir/code")" = "code 0" ] || fail "exit code: $(cat "$dir/code")"

scene="files and looks are kept"
terminal '$M ui; $M ui'
frame "first"
drain
mux send-keys B
frame "big"
holds "h/l change"
lacks "PIPELINE 1f1b"
mux send-keys B
frame "normal"
mux send-keys S
frame "prompt"
mux send-keys -l mine
frame "name"
mux send-keys Enter
frame "saved"
holds "Saved mine"
drain
mux send-keys h
frame "changed"
mux send-keys q
frame "question"
holds "q again quits"
mux send-keys q
frame "second run"
drain
mux send-keys O
frame "prompt"
mux send-keys -l mine
drain
mux send-keys Enter
frame "opened"
holds "FITS"
holds "Opened"
mux send-keys q
await ready
[ -s "$dir/.local/share/meshplan/scenarios/mine.json" ] || fail "the scenario is not in the data directory"
[ -s "$dir/.config/meshplan/config.json" ] || fail "the looks are not in the config directory"

scene="bad config file"
echo '{"theme": "pink"}' >"$dir/.config/meshplan/config.json"
terminal '$M ui 2>$D/err; echo code $? >$D/code'
await ready
[ "$(cat "$dir/code")" = "code 2" ] || fail "exit code: $(cat "$dir/code")"
grep -q "config.json.*pink" "$dir/err" || fail "the message does not name file and value: $(cat "$dir/err")"
rm -f "$dir/.config/meshplan/config.json"

scene="bad preset file"
mkdir -p "$dir/.config/meshplan/presets/gpus"
echo '{"id": "x"' >"$dir/.config/meshplan/presets/gpus/x.json"
terminal '$M ui; echo code $? >$D/code'
await ready
holds "it ends too early"
[ "$(cat "$dir/code")" = "code 2" ] || fail "exit code: $(cat "$dir/code")"
rm -rf "$dir/.config/meshplan/presets"

scene="no colours"
terminal 'NO_COLOR=1 $M ui'
frame "first"
mux capture-pane -p -e | grep -q '38;5;\|48;5;\|\[3[0-7]m\|\[4[0-7]m' && fail "colours in spite of NO_COLOR"
mux send-keys q
await ready

scene="locale that is not installed"
terminal '$M ui' xterm-256color xx_XX.UTF-8
frame "first"
holds ">tp"
mux send-keys q
await ready

scene=plain
printf '%s\n' 'tp 4' m '' Esc u e q | env -i HOME="$dir" PATH="$PATH" TERM=dumb "$program" ui --plain >"$dir/out" 2>"$dir/err" ||
	fail "exit code of --plain"
grep -q "DOES NOT FIT" "$dir/out" || fail "--plain does not give the verdict"
grep -q "BYTES PER PARAMETER" "$dir/out" || fail "--plain does not show the memory view"
grep -q "tp 8" "$dir/out" || fail "--plain does not undo"
grep -q "$(printf '\033')" "$dir/out" && fail "--plain sends escapes"

scene="no terminal"
TERM=xterm "$program" ui </dev/null >"$dir/out" 2>"$dir/err"
[ $? -eq 2 ] || fail "exit code without a terminal"
grep -q meshplan "$dir/err" || fail "no message without a terminal"
[ ! -s "$dir/out" ] || fail "text on stdout without a terminal"

# ncurses never frees what it allocated for a terminal that it then does not know: no leak check here in sanitizer builds.
export ASAN_OPTIONS=detect_leaks=0
for type in dumb no-such-terminal; do
	scene="TERM $type"
	terminal '$M ui 2>$D/err; echo code $? >$D/code' "$type"
	await ready
	[ "$(cat "$dir/code")" = "code 2" ] || fail "exit code: $(cat "$dir/code")"
	grep -q "$type" "$dir/err" || fail "the message does not name the terminal"
done

scene=vt100
terminal '$M ui' vt100 C
frame "first"
holds ">tp"
holds "WMG##O=="
mux send-keys q
await ready

[ $failed -eq 0 ] && echo "tui: all scenes passed"
exit $failed
