#!/bin/sh
# The completion for bash and the generated parts of the manual pages are what the tables say, and the screen and the table of errors in
# README.md are what the program prints. A part stands between the lines  .\" BEGIN name  and  .\" END name,  in README.md between  <!-- BEGIN screen -->  and
# <!-- END screen -->, <!-- BEGIN accuracy -->  and  <!-- END accuracy -->.
# With --update the files are rewritten instead. Environment: top_srcdir, top_builddir.
set -u
src=${top_srcdir:-.}
build=${top_builddir:-.}
tmp=$(mktemp -d) || exit 99
trap 'rm -rf "$tmp"' EXIT
HOME=$tmp
LC_ALL=C.UTF-8
export HOME LC_ALL
unset XDG_CONFIG_HOME NO_COLOR
passed=0
failed=0
update=no
[ "${1-}" = --update ] && update=yes

# The first screen, as Markdown.
screen() {
	printf 'dump main\n' >"$tmp/script"
	echo '```'
	"$build/meshplan" ui --utf8 --script "$tmp/script" --size 80x24 | sed -e 1d -e 's/ *$//'
	echo '```'
}

# The page as it should be.
fill() {
	while IFS= read -r line; do
		case $line in
		'.\" BEGIN '*)
			printf '%s\n' "$line"
			"$build/tools/gen" "${line#??? BEGIN }" || return 1
			skip=yes
			;;
		'<!-- BEGIN screen -->')
			printf '%s\n' "$line"
			screen
			skip=yes
			;;
		'<!-- BEGIN accuracy -->')
			printf '%s\n' "$line"
			"$build/meshplan" validate --markdown || return 1
			skip=yes
			;;
		'.\" END '* | '<!-- END screen -->' | '<!-- END accuracy -->')
			printf '%s\n' "$line"
			skip=no
			;;
		*) [ "$skip" = yes ] || printf '%s\n' "$line" ;;
		esac
	done <"$1"
}

for page in "$src"/README.md "$src"/man/*.[1-9]; do
	skip=no
	fill "$page" >"$tmp/page" || exit 1
	if [ "$update" = yes ]; then
		cmp -s "$tmp/page" "$page" || cp "$tmp/page" "$page"
	elif diff -u "$page" "$tmp/page"; then
		passed=$((passed + 1))
	else
		echo "$page: run make update-generated"
		failed=$((failed + 1))
	fi
	if [ "$update" = no ] && [ "$page" != "$src/README.md" ] && command -v mandoc >/dev/null 2>&1; then
		if mandoc -T lint -W warning "$page" >"$tmp/lint"; then
			passed=$((passed + 1))
		else
			cat "$tmp/lint"
			failed=$((failed + 1))
		fi
	fi
done
completion=$src/completion/meshplan
"$build/tools/gen" --bash >"$tmp/bash" || exit 1
if [ "$update" = yes ]; then
	cmp -s "$tmp/bash" "$completion" || cp "$tmp/bash" "$completion"
	exit 0
fi
if diff -u "$completion" "$tmp/bash"; then
	passed=$((passed + 1))
else
	echo "$completion: run make update-generated"
	failed=$((failed + 1))
fi
for part in $("$build/tools/gen" --list); do
	if grep -q "BEGIN $part\$" "$src"/man/*.[1-9]; then
		passed=$((passed + 1))
	else
		echo "no page holds the part $part"
		failed=$((failed + 1))
	fi
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
