#!/bin/sh
# The generated parts of the manual pages are what the tables say. A part stands between the lines
#   .\" BEGIN name   and   .\" END name
# With --update the pages are rewritten instead. Environment: top_srcdir, top_builddir.
set -u
src=${top_srcdir:-.}
build=${top_builddir:-.}
tmp=$(mktemp -d) || exit 99
trap 'rm -rf "$tmp"' EXIT
passed=0
failed=0
update=no
[ "${1-}" = --update ] && update=yes

# The page as it should be.
fill() {
	while IFS= read -r line; do
		case $line in
		'.\" BEGIN '*)
			printf '%s\n' "$line"
			"$build/tools/gen" "${line#??? BEGIN }" || return 1
			skip=yes
			;;
		'.\" END '*)
			printf '%s\n' "$line"
			skip=no
			;;
		*) [ "$skip" = yes ] || printf '%s\n' "$line" ;;
		esac
	done <"$1"
}

for page in "$src"/man/*.[1-9]; do
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
	if [ "$update" = no ] && command -v mandoc >/dev/null 2>&1; then
		if mandoc -T lint -W warning "$page" >"$tmp/lint"; then
			passed=$((passed + 1))
		else
			cat "$tmp/lint"
			failed=$((failed + 1))
		fi
	fi
done
[ "$update" = yes ] && exit 0
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
