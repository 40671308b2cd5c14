#!/bin/sh
# Scenes in a real terminal: the program runs inside tmux, which draws for it. Nothing sleeps, and nothing is looked at only once: the
# program writes one byte to a FIFO after each frame (MESHPLAN_FRAME_FIFO), and the screen is looked at again after each of them. Shell
# steps signal through tmux wait-for. Needs tmux, else exits 77 (skipped).
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

fail() {
	echo "FAIL $scene: $1"
	failed=1
}
screen() {
	mux capture-pane -p
}
has() {
	screen | grep -qF -e "$1"
}
has_row() {
	screen | grep -qxF -e "$1"
}
has_not() {
	! has "$1"
}
# A command comes to succeed; tried again after each frame, or 0.2 s, at most 200 times.
comes() {
	tries=200
	until "$@"; do
		tries=$((tries - 1))
		[ "$tries" -gt 0 ] || return 1
		timeout 0.2 dd bs=4096 count=1 <&3 >/dev/null 2>&1
	done
	return 0
}
holds() {
	comes has "$1" || { fail "the screen does not hold \"$1\""; screen; }
}
lacks() {
	comes has_not "$1" || { fail "the screen still holds \"$1\""; screen; }
}
starts() {
	holds "MEMORY per GPU, GiB"
}
is_given_back() {
	[ "$(mux display-message -p '#{alternate_on} #{cursor_flag}')" = "0 1" ]
}
# The shell has its screen back, with a cursor, and the terminal the modes that it had.
restored() {
	cmp -s "$dir/before" "$dir/after" || fail "the terminal is not as it was"
	comes is_given_back || fail "the screen or the cursor is not given back"
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
	printf '%s\n' "$1" '$T wait-for -S ready; $T wait-for end' >"$dir/scene.sh"
	mux new-session -d -x 80 -y 24 -s t "env -i HOME='$dir' PATH='$PATH' TERM=${2:-tmux-256color} LC_ALL=${3:-$LC_ALL} M='$program' \
		ASAN_OPTIONS='${ASAN_OPTIONS:-}' MESHPLAN_FRAME_FIFO='$dir/frames' T='env TERM=tmux-256color tmux -S $socket' D='$dir' sh '$dir/scene.sh'" \
		\; set -g status off \; set -g window-size manual \; set -g remain-on-exit on
}

scene=start
terminal 'stty -g >$D/before; $M ui; echo code $? >$D/code; stty -g >$D/after'
holds "FITS"
holds "MEMORY per GPU, GiB"
holds "PIPELINE 1f1b"

scene=key
mux send-keys h
holds "DOES NOT FIT"
mux send-keys u
lacks "DOES NOT FIT"
mux send-keys Left
holds "DOES NOT FIT"
mux send-keys Escape
mux send-keys Right
lacks "DOES NOT FIT"

scene=resize
mux resize-window -x 160 -y 45
holds "ONE STEP LEFT OR RIGHT"
mux resize-window -x 40 -y 10
holds "need 60x16, have 40x10"
mux resize-window -x 80 -y 24
holds "MEMORY per GPU, GiB"

scene=quit
mux send-keys q
await ready
[ "$(cat "$dir/code")" = "code 0" ] || fail "exit code: $(cat "$dir/code")"
restored
lacks "MEMORY per GPU, GiB"

scene=flood
# What is typed before the program starts waits for it all at once; the last of it is no key.
keys=$(printf '%0300d' 0 | sed 's/0/h/g')
terminal '$T wait-for go; $M ui'
mux send-keys -l "$keys"
mux send-keys -H 6b 1b 5b 39 39 7e
mux wait-for -S go
holds "framework    ◄ lowest"
mux send-keys q
await ready

for signal in TERM HUP INT QUIT PIPE ALRM USR1 USR2 SEGV ABRT BUS FPE; do
	scene="signal $signal"
	terminal 'ulimit -c 0; stty -g >$D/before; sh -c "echo \$\$ >\$D/pid; exec $M ui"; stty -g >$D/after'
	starts
	kill -s "$signal" "$(cat "$dir/pid")"
	await ready
	restored
	lacks "MEMORY per GPU, GiB"
done

for delay in 0 0.01 0.05; do
	scene="signals within $delay s"
	terminal 'stty -g >$D/before
		sh -c "(sleep '$delay'; kill -s TSTP \$\$; sleep 0.1; kill -s CONT \$\$; kill -s TERM \$\$) & exec $M ui"
		stty -g >$D/after'
	await ready
	restored
done

# Wherever one is: another size, stopped and continued by the program itself and by somebody else, ended by a signal.
# usage: phase SIGNAL TEXT KEY...
phase() {
	scene="$1 with \"$2\""
	signal=$1 text=$2
	shift 2
	terminal 'set -m; stty -g >$D/before; sh -c "echo \$\$ >\$D/pid; exec $M ui"
		for by in itself others; do
			stty -g >$D/after; $T wait-for -S stopped; $T wait-for go; clear; fg
		done
		stty -g >$D/after'
	starts
	pid=$(cat "$dir/pid")
	mux send-keys "$@"
	holds "$text"
	mux resize-window -x 100 -y 30
	holds "$text"
	kill -s TSTP "$pid"
	await stopped
	restored
	mux resize-window -x 80 -y 24
	mux wait-for -S go
	holds "$text"
	kill -s STOP "$pid"
	await stopped
	mux wait-for -S go
	holds "$text"
	holds "Esc"
	kill -s "$signal" "$pid"
	await ready
	restored
	lacks "$text"
}
phase TERM "one page down" "?"
phase HUP "Enter takes 8" 9
phase QUIT "iteration 1: forward of the shard" E Enter
phase TERM "accept" : t p Space

scene=suspend
terminal 'set -m; $M ui; $T wait-for -S stopped; $T wait-for go; fg'
starts
mux send-keys C-z
await stopped
lacks "MEMORY per GPU, GiB"
mux resize-window -x 100 -y 30
mux wait-for -S go
holds "MEMORY per GPU, GiB"
holds "? help"
mux send-keys q
await ready

# gone TMUX-COMMANDS: the terminal goes away by them, and the program with it.
gone() {
	terminal 'trap "" HUP; sh -c "echo \$\$ >\$D/pid; exec $M ui"'
	starts
	pid=$(cat "$dir/pid")
	mux "$@"
	comes ended "$pid" || { fail "the program outlives its terminal"; kill -s KILL "$pid"; }
}
ended() {
	! kill -0 "$1" 2>/dev/null
}

scene="terminal gone"
gone kill-server

scene="terminal gone while quitting"
gone send-keys q \; kill-server

scene="resize storm"
terminal '$M ui; echo code $? >$D/code'
starts
n=0
while [ $n -lt 40 ]; do
	mux resize-window -x $((20 + n * 37 % 180)) -y $((5 + n * 13 % 60)) \; send-keys h l
	n=$((n + 1))
done
mux resize-window -x 80 -y 24
holds "MEMORY per GPU, GiB"
mux send-keys q
await ready
[ "$(cat "$dir/code")" = "code 0" ] || fail "exit code: $(cat "$dir/code")"

scene="files and looks are kept"
terminal '$M ui; $T wait-for -S second; $M ui'
starts
mux send-keys B
holds "B normal size"
lacks "PIPELINE 1f1b"
mux send-keys B
holds "PIPELINE 1f1b"
mux send-keys S
mux send-keys -l mine
mux send-keys Enter
holds "Saved mine"
mux send-keys h q
holds "q again quits"
mux send-keys q
await second
starts
mux send-keys O
mux send-keys -l mine
mux send-keys Enter
holds "Opened"
holds "FITS"
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
starts
mux capture-pane -p -e | grep -q '38;5;\|48;5;\|\[3[0-7]m\|\[4[0-7]m' && fail "colours in spite of NO_COLOR"
mux send-keys q
await ready

scene="locale that is not installed"
terminal '$M ui' xterm-256color xx_XX.UTF-8
starts
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
# It has no screen of its own for programs: what was there stays, but for the row of the prompt.
terminal '$M ui; echo code $?' vt100 C
starts
holds ">tp"
holds "WMG##O=="
mux send-keys q
await ready
comes has_row "code 0" || { fail "the row of the prompt is not free"; screen; }

scene="full disk"
echo 'dump a' | "$program" ui --script - --dump-screen - >/dev/full 2>"$dir/err"
[ $? -eq 3 ] || fail "exit code of a dump to a full disk"
[ "$(cat "$dir/err")" = "meshplan: cannot write standard output: No space left on device" ] || fail "the message: $(cat "$dir/err")"

[ $failed -eq 0 ] && echo "tui: all scenes passed"
exit $failed
