#!/bin/sh
# The scripts around the build: ./bootstrap lets one run at a time into a directory, and --version names the commit.
# Environment: top_srcdir, top_builddir.
set -u
src=$(cd "${top_srcdir:-.}" && pwd)
build=$(cd "${top_builddir:-.}" && pwd)
tmp=$(mktemp -d) || exit 99
trap 'rm -rf "$tmp"' EXIT
passed=0
failed=0

# same NAME WANTED GOT
same() {
	if [ "$2" = "$3" ]; then
		echo "ok - $1"
		passed=$((passed + 1))
	else
		echo "not ok - $1: wanted \"$2\", got \"$3\""
		failed=$((failed + 1))
	fi
}

# A tree that is generated and configured already; its make refuses company, and leaves when somebody waits.
tree() {
	mkdir -p "$tmp/tree/build"
	cp "$src/bootstrap" "$tmp/tree/bootstrap"
	touch "$tmp/tree/configure" "$tmp/tree/Makefile.in" "$tmp/tree/build/config.status"
	chmod +x "$tmp/tree/configure" "$tmp/tree/build/config.status"
	cat >"$tmp/tree/build/Makefile" <<'MAKE'
all:
	mkdir busy
	touch ../entered
	i=0; while ! grep -q waiting ../second && [ -z "$$(cat ../second)" ] && [ $$i -lt 100 ]; do sleep 0.1; i=$$((i + 1)); done
	rmdir busy
MAKE
}

bootstrap_is_alone() {
	tree
	: >"$tmp/tree/second"
	"$tmp/tree/bootstrap" build 2>"$tmp/tree/first" &
	i=0
	while [ ! -e "$tmp/tree/entered" ] && [ $i -lt 100 ]; do sleep 0.1; i=$((i + 1)); done
	"$tmp/tree/bootstrap" build 2>"$tmp/tree/second"
	second=$?
	wait $!
	same "both of two parallel bootstraps build" "0 0" "$? $second"
	same "the second waits and says so" 1 "$(grep -c 'waiting for another bootstrap' "$tmp/tree/second")"
	same "the lock goes with its owner" 0 "$(cd "$tmp/tree" && ./bootstrap build 2>&1 | grep -c waiting)"
}

# configure refuses a source directory with a blank in its absolute path, not one below it.
blanks_are_allowed() {
	dir="$tmp/with blank"
	mkdir -p "$dir"
	cp "$src/bootstrap" "$dir/bootstrap"
	touch "$dir/Makefile.in"
	cat >"$dir/configure" <<'CONFIGURE'
#!/bin/sh
echo "$0" >called
printf 'all:\n' >Makefile
CONFIGURE
	chmod +x "$dir/configure"
	"$dir/bootstrap" build 2>/dev/null
	same "configure is called below the source directory" "0 ../configure" "$? $(cat "$dir/build/called")"
	rm -r "$dir/build"
	: >"$dir/build"
	same "a place that cannot be written to is named" 1 "$("$dir/bootstrap" build 2>&1 | grep -c "cannot write to $dir/build")"
}

version_names_the_commit() {
	version=$(sed -n 's/^AC_INIT(\[meshplan\], \[\(.*\)\])/\1/p' "$src/configure.ac")
	id=$("$src/tools/git-id.sh" "$src")
	same "--version ends with the commit" "meshplan $version${id:+ (git $id)}" "$("$build/meshplan" --version)"
	mkdir "$tmp/plain" "$tmp/ball"
	same "no repository, no commit" "" "$("$src/tools/git-id.sh" "$tmp/plain")"
	echo 0123456789ab >"$tmp/ball/git-id"
	same "a tarball carries it" 0123456789ab "$("$src/tools/git-id.sh" "$tmp/ball")"
}

if command -v flock >/dev/null 2>&1; then
	bootstrap_is_alone
fi
blanks_are_allowed
version_names_the_commit
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
