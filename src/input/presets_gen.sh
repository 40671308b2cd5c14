#!/bin/sh
# presets_gen.sh PRESETS_DIR: writes the C source that holds every preset file of every kind, byte for byte.
# Plain POSIX sh, awk and od; the order of the files does not matter, each names its place in lists itself.
LC_ALL=C
export LC_ALL
cd "$1" || exit 1
set --
for file in models/*.json gpus/*.json nodes/*.json frameworks/*.json families/*.json coefficients/*.json measured/*.csv; do
	if test -f "$file"; then
		set -- "$@" "$file"
	fi
done
if test $# -eq 0; then
	echo "presets_gen.sh: no preset files here" >&2
	exit 1
fi
cat <<'END'
/* Made by src/input/presets_gen.sh from presets/; not to be edited. */
#include "presets_data.h"

const unsigned char presets_data_bytes[] = {
END
cat "$@" | od -An -v -tu1 | sed -e 's/^ *//' -e 's/  */,/g' -e 's/$/,/'
printf '};\n\nconst struct presets_data_file presets_data_files[] = {\n'
wc -c "$@" | awk '$2 != "total" { printf "\t{ \"%s\", %d, %d },\n", $2, at, $1; at += $1 }'
printf '};\n\nconst size_t presets_data_n = %d;\n' $#
