#!/bin/sh
# The second half of `make bench`: the program from outside. Medians of 21 runs, largest resident memory, size without symbols.
# Environment: top_builddir.
set -u
build=${top_builddir:-.}
tmp=$(mktemp -d) || exit 99
trap 'rm -rf "$tmp"' EXIT
HOME=$tmp
LC_ALL=C.UTF-8
export HOME LC_ALL
unset XDG_CONFIG_HOME
printf 'dump main\n' >"$tmp/script"

# median_ms ARGUMENTS...: of the whole process, start and exit included.
median_ms() {
	i=0
	while [ $i -lt 21 ]; do
		a=$(date +%s%N)
		"$build/meshplan" "$@" >/dev/null
		b=$(date +%s%N)
		echo $(((b - a) / 1000))
		i=$((i + 1))
	done | sort -n | sed -n 11p | awk '{ printf "%.1f ms", $1 / 1000 }'
}

resident() {
	[ -x /usr/bin/time ] || return 0
	/usr/bin/time -f '%M' "$build/meshplan" "$@" 2>&1 >/dev/null | tail -n 1 | awk '{ printf ", %.1f MB resident", $1 / 1024 }'
}

echo "fit 70B on 8xA100:      $(median_ms fit 70B on 8xA100)$(resident fit 70B on 8xA100)   (budget 50 ms, 16 MB)"
echo "first frame of the UI:  $(median_ms ui --script "$tmp/script")$(resident ui --script "$tmp/script")   (budget 30 ms, 16 MB)"
strip -o "$tmp/meshplan" "$build/meshplan" && echo "size without symbols:   $(wc -c <"$tmp/meshplan" | awk '{ printf "%.2f MB", $1 / 1e6 }')   (budget 2 MB)"
