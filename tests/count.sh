#!/bin/sh
# Adds up what the test programs of a build directory report: libcheck's "Checks: N, Failures: N, Errors: N" and the scripts'
# "N passed, N failed". A program that reports neither counts as one. Ends with the line "N passed, N failed" (", N skipped").
# usage: count.sh BUILD_DIRECTORY
set -u
dir=${1-.}

# One line per automake test result: result, passed, failed.
results() {
	find "$dir/tests" -name '*.trs' | LC_ALL=C sort | while read -r trs; do
		awk -v trs="$trs" '
		FILENAME == trs { if ($1 == ":global-test-result:") result = $2; next }
		/^[0-9]+%: Checks: [0-9]+, Failures: [0-9]+, Errors: [0-9]+/ {
			gsub(/[,:]/, " ")
			seen = 1; failed += $5 + $7; passed += $3 - $5 - $7
		}
		/^[0-9]+ passed, [0-9]+ failed/ { seen = 1; passed += $1; failed += $3 }
		END {
			if (!seen && result == "PASS") passed = 1
			if (result != "PASS" && result != "SKIP" && failed == 0) failed = 1
			print result, passed + 0, failed + 0, trs
		}' "$trs" "${trs%.trs}.log"
	done
}

results | awk '
	$1 == "SKIP" { skipped++ }
	{ passed += $2; failed += $3; n++ }
	$3 > 0 { print "failed: " $4 > "/dev/stderr" }
	END {
		if (n == 0) { print "no test results found" > "/dev/stderr"; failed = 1 }
		printf "%d passed, %d failed%s\n", passed, failed, skipped ? ", " skipped " skipped" : ""
		exit failed > 0
	}'
