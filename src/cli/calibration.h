/* One run of meshplan calibrate: what was asked for, what came out, and which files say so. */
#ifndef MESHPLAN_CALIBRATION_H
#define MESHPLAN_CALIBRATION_H

#include "calibrate.h"
#include "cli.h"
#include "measured.h"
#include "preset_write.h"
#include "runs_csv.h"

enum { STEPS_MAX = 256, WRITTEN_MAX = 8 };

struct calibration {
	const char *name, *file; /* file: the table of steps, or NULL: one scenario */
	struct draft draft;      /* of a table: the first scenario */
	struct plan plan;
	struct runs runs;
	struct measured_step steps[STEPS_MAX];
	const char *run[STEPS_MAX]; /* of a table: ids of the steps */
	size_t n_steps, n_points;
	int64_t memory_bytes, predicted_bytes;
	struct calibrated_level level;
	struct profile profile;
	struct gpu gpu;
	struct node node;
	struct gpu_family family;
	bool rates;   /* the family was measured */
	bool network; /* the coefficients hold a measured network */
	struct matmul_point points[MATMUL_POINTS_MAX];
	size_t n_written;
	char written[WRITTEN_MAX][PRESET_PATH_CAP];
};

/* What was learned and written, for people and as JSON. */
void calibration_text(const struct calibration *k, struct sink *out);
void calibration_json(const struct calibration *k, struct sink *out);

#endif
