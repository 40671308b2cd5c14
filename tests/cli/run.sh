#!/bin/sh
# Runs the command line cases: every *.case file beside this script. A case is a block of lines:
#   # name                      starts a case
#   $ meshplan fit 70B ...      the command, run by sh; "meshplan" is the program under test
#   ? 1                         its exit code (0 if the line is absent)
#   ! text                      standard error holds this text (any number of lines)
#   = file                      standard output equals tests/golden/cli/file (FILE only, no path)
#   ~ text                      standard output holds this text (any number of lines)
#   - text                      standard output does not hold this text
#   0                           standard output is empty
# UPDATE_GOLDEN=1 rewrites the golden files. Environment: top_srcdir, top_builddir.
set -u
src=$(cd "${top_srcdir:-.}" && pwd)
build=$(cd "${top_builddir:-.}" && pwd)
golden=$src/tests/golden/cli
tmp=$(mktemp -d) || exit 99
trap 'rm -rf "$tmp"' EXIT
PATH=$build:$PATH
LC_ALL=C.UTF-8
TERM=dumb
HOME=$tmp/work
export PATH LC_ALL TERM HOME src
unset XDG_CONFIG_HOME NO_COLOR LANGUAGE LANG LINES COLUMNS
mkdir "$tmp/work"
passed=0
failed=0
name=

complain() {
	echo "not ok - $name: $*"
	good=no
}

run_case() {
	[ -n "$name" ] && [ -n "$command" ] || return 0
	good=yes
	(cd "$tmp/work" && sh -c "$command") >"$tmp/out" 2>"$tmp/err" </dev/null
	status=$?
	[ "$status" = "$want" ] || complain "exit code $status, wanted $want"
	if [ "$want" = 0 ] && [ -s "$tmp/err" ] && [ -z "$errors" ]; then
		complain "writes to standard error: $(head -n 3 "$tmp/err")"
	fi
	check_texts "$errors" "$tmp/err" "standard error"
	check_texts "$texts" "$tmp/out" "standard output"
	printf '%s' "$absent" | while IFS= read -r text; do
		! grep -Fq -e "$text" "$tmp/out" || echo "$text"
	done >"$tmp/found"
	[ ! -s "$tmp/found" ] || complain "standard output holds: $(cat "$tmp/found")"
	[ "$empty" = no ] || [ ! -s "$tmp/out" ] || complain "standard output is not empty"
	[ -z "$file" ] || check_golden
	if [ "$good" = yes ]; then
		passed=$((passed + 1))
	else
		echo "  \$ $command"
		sed 's/^/  stderr: /' "$tmp/err" | head -n 5
		failed=$((failed + 1))
	fi
}

# check_texts LINES FILE WHAT
check_texts() {
	printf '%s' "$1" | while IFS= read -r text; do
		grep -Fq -e "$text" "$2" || echo "$text"
	done >"$tmp/lost"
	[ ! -s "$tmp/lost" ] || complain "$3 lacks: $(cat "$tmp/lost")"
}

check_golden() {
	if [ "${UPDATE_GOLDEN:-0}" = 1 ]; then
		cp "$tmp/out" "$golden/$file"
	elif ! diff -u "$golden/$file" "$tmp/out" >"$tmp/diff"; then
		complain "differs from $file"
		head -n 20 "$tmp/diff"
	fi
}

start_case() {
	name=$1
	command=
	want=0
	errors=
	texts=
	absent=
	empty=no
	file=
}

nl='
'
start_case ""
for cases in "$src"/tests/cli/*.case; do
	while IFS= read -r line || [ -n "$line" ]; do
		rest=${line#??}
		case $line in
		'# '*)
			run_case
			start_case "$rest"
			;;
		'$ '*) command=$rest ;;
		'? '*) want=$rest ;;
		'! '*) errors=$errors$rest$nl ;;
		'~ '*) texts=$texts$rest$nl ;;
		'- '*) absent=$absent$rest$nl ;;
		'= '*) file=$rest ;;
		0) empty=yes ;;
		'') ;;
		*)
			echo "$cases: cannot read: $line"
			failed=$((failed + 1))
			;;
		esac
	done <"$cases"
	run_case
	start_case ""
done

echo "$passed passed, $failed failed"
[ "$passed" != 0 ] && [ "$failed" = 0 ]
