/* Tables of measurements: the first byte selects the kind, the rest is the file. */
#include "fuzz.h"
#include "measured.h"
#include "pipeline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void check_nccl(char *text)
{
	struct collective_rate rate;
	struct err e;

	if (measured_nccl_parse("nccl", text, &rate, &e) != ERR_OK) {
		FUZZ_CHECK(e.msg[0] != '\0' && e.where[0] != '\0');
		return;
	}
	FUZZ_CHECK(isfinite(rate.latency_s) && rate.latency_s > 0 && isfinite(rate.rate_bps) && rate.rate_bps > 0);
	FUZZ_CHECK(rate.ranks >= 2 && rate.hosts >= 1);
}

static void check_matmul(char *text)
{
	struct matmul_point points[MATMUL_POINTS_MAX];
	struct err e;
	size_t n;

	if (measured_matmul_parse("matmul", text, points, &n, &e) != ERR_OK) {
		FUZZ_CHECK(e.msg[0] != '\0' && e.where[0] != '\0');
		return;
	}
	FUZZ_CHECK(n > 0);
	for (size_t i = 0; i < n; i++) {
		FUZZ_CHECK(points[i].gflop > 0 && isfinite(points[i].gflop) && points[i].flops > 0 && isfinite(points[i].flops));
		FUZZ_CHECK(i == 0 || points[i].gflop > points[i - 1].gflop);
	}
}

static void check_stages(const char *text, size_t len, int64_t stages)
{
	struct pipeline_times t = { .scale = 10000000 };
	struct err e;

	if (pipeline_times_parse("times", text, len, stages, stages == 2, &t, &e) != ERR_OK) {
		FUZZ_CHECK(e.msg[0] != '\0' && e.where[0] != '\0');
		return;
	}
	FUZZ_CHECK(t.stages >= stages && t.scale >= 1);
	for (int64_t i = 0; i < 4 * t.stages; i++)
		FUZZ_CHECK(t.stage[i] >= 0);
	free(t.stage);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	FUZZ_CHECK(text != NULL);
	if (size > 0)
		memcpy(text, data + 1, size - 1);
	text[size > 0 ? size - 1 : 0] = '\0';
	switch (size > 0 ? data[0] % 4 : 0) {
	case 0:
		check_nccl(text);
		break;
	case 1:
		check_matmul(text);
		break;
	case 2:
		check_stages(text, size - 1, 4);
		break;
	default:
		check_stages(text, size - 1, 2);
		break;
	}
	free(text);
	return 0;
}
