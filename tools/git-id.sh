#!/bin/sh
# tools/git-id.sh SRCDIR: the commit that SRCDIR was checked out from, with "-dirty" when files differ from it; out of a tarball what `make
# dist` wrote into SRCDIR/git-id; nothing where neither is there. A repository further up is not this one's.
cd "$1" || exit 1
if [ -e .git ] && id=$(git describe --always --dirty --abbrev=12 --exclude='*' 2>/dev/null); then
	echo "$id"
elif [ -f git-id ]; then
	cat git-id
fi
