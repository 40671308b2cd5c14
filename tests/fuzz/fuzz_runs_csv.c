/* Tables of published runs: any bytes become rows or an error with a place, and every row is predicted or skipped with a reason.
 */
#include "fuzz.h"
#include "presets.h"
#include "runs_csv.h"

#include <math.h>
#include <stdlib.h>

static const struct catalog *catalog(void)
{
	static struct preset_store *store;

	if (store == NULL && preset_store_new(&store, NULL) != ERR_OK)
		abort();
	return preset_store_catalog(store);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct coefficients *set = catalog_coefficients(catalog(), "third");
	struct runs runs;
	struct err e = { .code = ERR_OK };

	if (runs_parse("runs.csv", (const char *)data, size, catalog(), set, &runs, &e) != ERR_OK)
		FUZZ_CHECK(e.msg[0] != '\0' && e.where[0] != '\0');
	for (size_t i = 0; i < runs.n; i++) {
		struct validate_row row;

		validate_run(&runs.cases[i], &row);
		FUZZ_CHECK(row.skipped[0] != '\0' || (isfinite(row.predicted_step_s) && row.predicted_step_s >= 0));
		FUZZ_CHECK(row.predicted_bytes >= 0);
	}
	runs_free(&runs);
	return 0;
}
