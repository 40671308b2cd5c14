#!/bin/sh
# The architecture, checked: who may include whom, what the engine may call, and that it keeps no writable data.
# Environment: top_srcdir, top_builddir, sanitizers (yes: the compiler adds symbols and data of its own, the object checks are left out).
set -u
src=${top_srcdir:-.}
build=${top_builddir:-.}
tmp=$(mktemp -d) || exit 99
trap 'rm -rf "$tmp"' EXIT
passed=0
failed=0

# verdict NAME FILE-WITH-COMPLAINTS
verdict() {
	if [ -s "$2" ]; then
		echo "not ok - $1"
		sed 's/^/  /' "$2"
		failed=$((failed + 1))
	else
		echo "ok - $1"
		passed=$((passed + 1))
	fi
}

# A file includes files of its own rank or below. A new engine module gets its rank here; parts of a module (memory_state) have its rank.
cat >"$tmp/ranks" <<'RANKS'
err 0
num 0
units 0
sink 0
text 0
dtype 0
field 0
i18n_mark 0
coefficients 10
model 10
hardware 10
profile 10
scenario 20
catalog 20
compute 30
comm 30
schedule 30
sched 30
rules 35
memory 40
step 40
throughput 40
knobs 40
draft 40
plan 50
calibrate 60
cost 60
search 70
ways 80
report 90
gantt 90
explain 90
estimators 90
validate 90
lab 90
RANKS

find "$src/src" "$src/ui" -name '*.[ch]' | LC_ALL=C sort >"$tmp/files"
[ -s "$tmp/files" ] || { echo "no sources below $src"; exit 99; }

while read -r file; do
	echo "$file -"
	sed -n "s|^#include \"\(.*\)\"|\1|p" "$file" | sed "s|^|$file |"
done <"$tmp/files" >"$tmp/includes"

awk -v src="$src" '
function module(name) { sub(/.*\//, "", name); sub(/\.[ch]$/, "", name); return name }
function place(name) { sub(/\/[^\/]*$/, "", name); return name }
function rank_of(file, dir, name) {
	dir = place(file)
	if (dir == src "/src/input") return 100
	if (dir == src "/ui") return 110
	if (dir == src "/src/cli") return 120
	name = module(file)
	while (!(name in rank) && sub(/_[^_]*$/, "", name)) { }
	return name in rank ? rank[name] : -1
}
NR == FNR { rank[$1] = $2; next }
$2 == "-" {
	if ($1 ~ /\.h$/) { base = $1; sub(/.*\//, "", base); path[base] = $1 }
	if (rank_of($1) < 0) print $1 ": has no rank in tests/layering.sh"
	next
}
{ from[++n] = $1; to[n] = $2 }
END {
	for (i = 1; i <= n; i++) {
		if (to[i] == "config.h" || to[i] == "git_id.h") {
			if (from[i] ~ /\/engine\//) print from[i] ": the engine needs no " to[i]
		} else if (!(to[i] in path)) {
			print from[i] ": includes " to[i] ", which is none of our headers"
		} else if (rank_of(path[to[i]]) > rank_of(from[i])) {
			print from[i] " (rank " rank_of(from[i]) ") includes " to[i] " (rank " rank_of(path[to[i]]) ")"
		}
	}
}' "$tmp/ranks" "$tmp/includes" >"$tmp/bad"
verdict "includes follow the ranks" "$tmp/bad"

grep -vE '/ui/term(_caps|_keys)?\.c$' "$tmp/files" | xargs grep -nE '#include <(n?curses|ncursesw/|term)\b' >"$tmp/bad"
verdict "only ui/term.c, term_caps.c and term_keys.c include curses" "$tmp/bad"

xargs grep -nE '\b(sprintf|strcpy|strcat|strncpy|gets|strtok|atoi|atof|sscanf|alloca)\(' <"$tmp/files" >"$tmp/bad"
verdict "no banned string functions" "$tmp/bad"

if [ "${sanitizers:-no}" = yes ]; then
	echo "$passed passed, $failed failed"
	[ "$failed" = 0 ]
	exit
fi

# What a pure, reentrant engine may not call: streams, environment, clocks, chance, exits, the heap, hidden state.
cat >"$tmp/denied" <<'DENIED'
printf
vprintf
fprintf
vfprintf
dprintf
puts
putchar
putc
fputs
fputc
fwrite
fread
fopen
fdopen
fclose
fflush
fgets
getline
open
read
write
stdin
stdout
stderr
perror
getenv
secure_getenv
setenv
time
clock
clock_gettime
gettimeofday
localtime
gmtime
strftime
rand
srand
random
drand48
getrandom
exit
_exit
quick_exit
abort
atexit
signal
system
malloc
calloc
realloc
free
strdup
asprintf
qsort
setlocale
localeconv
gettext
strerror
DENIED
nm -u "$build/libengine.a" | awk '$1 == "U" { sub(/^__/, "", $2); sub(/_chk$/, "", $2); print $2 }' | sort -u >"$tmp/used"
grep -Fxf "$tmp/denied" "$tmp/used" >"$tmp/bad"
[ -s "$tmp/used" ] || echo "nm found nothing in $build/libengine.a" >"$tmp/bad"
verdict "the engine calls nothing impure" "$tmp/bad"

# Sections, not nm letters: constant tables of pointers live in .data.rel.ro and show as D.
objdump -t "$build/libengine.a" | awk '
	/file format/ { file = $1 }
	($0 ~ / O / || $0 ~ / \*COM\*/) && $0 ~ /[ \t](\.data|\.bss|\.tdata|\.tbss|\*COM\*)([.][A-Za-z0-9_.]+)?\t/ && $0 !~ /[ \t]\.data\.rel\.ro/ { print file $NF }' >"$tmp/bad"
verdict "the engine has no writable objects" "$tmp/bad"

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
