#include "hardware.h"

#include "coefficients.h"

#include <math.h>
#include <stddef.h>

const double curve_gflop[CURVE_POINTS] = { 2, 8, 32, 128, 512, 2048, 8192 };

static const char *const gpu_form_names[GPU_FORM_COUNT + 1] = { "sxm", "oam", "pcie", "nvl", "consumer", "other", NULL };
const char *const price_kind_names[PRICE_KIND_COUNT + 1] = { "on-demand", "reserved", "spot", "marketplace", "lesson", NULL };
const char *const gpu_generation_names[GENERATION_COUNT + 1] = { "volta", "ampere", "hopper", "blackwell", NULL };

/* clang-format off */
#define TEXT(k, s, m, need, h) \
	{ .key = k, .type = FIELD_TEXT, .offset = offsetof(struct s, m), .size = sizeof(((struct s *)0)->m), .required = need, \
		.help = h }
#define AT(s, m, T) .offset = offsetof(struct s, m) + FIELD_SAME(s, m, T), .size = sizeof(((struct s *)0)->m)
#define INT(k, s, m, need, lo, hi, u, h) \
	{ .key = k, .type = FIELD_INT, AT(s, m, int64_t), .required = need, .min = lo, .max = hi, .unit = u, .help = h }
#define BYTES(k, s, m, need, h) \
	{ .key = k, .type = FIELD_BYTES, AT(s, m, int64_t), .required = need, .min = 0, .max = 1e16, .unit = "bytes", .help = h }
/* The value in the file is in `u`, the member in the base unit: field_unit_scale(). */
#define REAL(k, s, m, hi, u, h) { .key = k, .type = FIELD_REAL, AT(s, m, double), .min = 0, .max = hi, .unit = u, .help = h }

static const struct field gpu_rows[] = {
	TEXT("id", gpu, id, true, "name on the command line; the file is called ID.json"),
	TEXT("label", gpu, label, false, "name for people"),
	TEXT("vendor", gpu, vendor, false, "who makes it"),
	{ .key = "form", .type = FIELD_NAME, AT(gpu, form, int32_t), .required = true, .names = gpu_form_names,
		.help = "form factor" },
	INT("year", gpu, year, false, 2000, 2100, "", "first shipped; a newer part is preferred when a name fits several"),
	BYTES("mem-nominal", gpu, mem_nominal_bytes, true, "the number on the box"),
	BYTES("mem-smi", gpu, mem_smi_bytes, false, "total that nvidia-smi shows"),
	BYTES("mem-cuda", gpu, mem_cuda_bytes, false, "total that CUDA hands out: the verdict compares with this"),
	{ .key = "mem-cuda-derived", .type = FIELD_FLAG, AT(gpu, mem_cuda_derived, int32_t), .max = 1,
	  .help = "mem-cuda is mem-smi less 0.6 GiB, not seen in a CUDA message" },
	REAL("mem-bw", gpu, mem_bw_bps, 1e6, "GB/s", "memory bandwidth"),
	REAL("fp32-tflops", gpu, fp32_flops, 1e6, "TFLOP/s", "dense peak, fp32 vector units"),
	REAL("tf32-tflops", gpu, tf32_flops, 1e6, "TFLOP/s", "dense peak, tf32"),
	REAL("bf16-tflops", gpu, bf16_flops, 1e6, "TFLOP/s", "dense peak, bf16 with fp32 accumulation; absent: no bf16"),
	REAL("fp16-tflops", gpu, fp16_flops, 1e6, "TFLOP/s", "dense peak, fp16 with fp32 accumulation"),
	REAL("fp8-tflops", gpu, fp8_flops, 1e6, "TFLOP/s", "dense peak, fp8"),
	REAL("fp4-tflops", gpu, fp4_flops, 1e6, "TFLOP/s", "dense peak, fp4"),
	REAL("int8-tops", gpu, int8_flops, 1e6, "TOP/s", "dense peak, int8"),
	TEXT("link", gpu, link, false, "link between the GPUs of a node"),
	REAL("link-bw", gpu, link_bps, 1e6, "GB/s", "that link per GPU, one direction"),
	INT("pcie-gen", gpu, pcie_gen, false, 0, 9, "", "PCI Express generation"),
	REAL("tdp", gpu, tdp_w, 1e5, "W", "board power limit"),
	INT("gpus-per-node", gpu, gpus_per_node, false, 1, 1024, "", "usual number in one node"),
	TEXT("family", gpu, family, false, "architecture whose efficiency curves apply; absent: speed is not known"),
	REAL("usd-per-hour", gpu, usd_per_hour, 1e5, "USD", "what you pay for one GPU hour; absent: the first of prices"),
	TEXT("usd-provider", gpu, usd_provider, false, "whose price it is"),
	TEXT("usd-date", gpu, usd_date, false, "when it was asked"),
};

static const struct field gpu_price_rows[] = {
	{ .key = "usd_per_gpu_hour", .type = FIELD_REAL, AT(gpu_price, usd_per_hour, double), .required = true, .min = 0.0001, .max = 1e5,
		.unit = "USD", .help = "one GPU, one hour" },
	{ .key = "kind", .type = FIELD_NAME, AT(gpu_price, kind, int32_t), .required = true, .names = price_kind_names,
		.help = "what is bought" },
	TEXT("provider", gpu_price, provider, true, "who asks it"),
	TEXT("date", gpu_price, date, true, "when it was asked"),
	TEXT("source", gpu_price, source, true, "where it was read"),
	TEXT("source_kind", gpu_price, source_kind, false, "as kind of a source"),
	TEXT("notes", gpu_price, notes, false, "what else is known"),
};

static const struct field node_rows[] = {
	TEXT("id", node, id, true, "name on the command line; the file is called ID.json"),
	TEXT("label", node, label, false, "name for people"),
	TEXT("gpu", node, gpu_id, true, "id of the GPU in it"),
	INT("gpus-per-node", node, gpus_per_node, true, 1, 1024, "", "GPUs in one node"),
	INT("nvlink-domain", node, nvlink_domain_gpus, false, 1, 65536, "",
		"GPUs that the fast link joins; more than a node in rack systems"),
	BYTES("host-mem", node, host_mem_bytes, false, "main memory of one node; absent: not known"),
	BYTES("nvme", node, nvme_bytes, false, "local NVMe of one node; absent: not known"),
	REAL("nvme-read", node, nvme_read_bps, 1e4, "GB/s", "all local NVMe together, reading"),
	REAL("nvme-write", node, nvme_write_bps, 1e4, "GB/s", "all local NVMe together, writing"),
	INT("nics", node, nics, false, 0, 1024, "", "network ports of one node"),
	REAL("nic-bw", node, nic_bps, 1e4, "GB/s", "one port, one direction"),
	TEXT("fabric", node, fabric, false, "network between nodes"),
};

#define COEFFICIENT(k, s, m, h) { .key = k, .type = FIELD_NAME, AT(s, m, int32_t), .names = coefficient_names, .help = h }
#define POINT(k, m, i, need, h) \
	{ .key = k, .type = FIELD_REAL, .offset = offsetof(struct gpu_family, m) + (i) * sizeof(double), .size = sizeof(double), \
		.required = need, .min = 0.001, .max = 2, .help = h }
#define LATENCY(k, i, h) \
	{ .key = k, .type = FIELD_REAL, .offset = offsetof(struct gpu_family, latency_us) + (i) * sizeof(double), .size = sizeof(double), \
		.min = 0, .max = 1e6, .unit = "us", .help = h }
#define RATE(k, i, h) \
	{ .key = k, .type = FIELD_REAL, .offset = offsetof(struct gpu_family, rate_bps) + (i) * sizeof(double), .size = sizeof(double), \
		.required = true, .min = 0.001, .max = 1e6, .unit = "GB/s", .help = h }
#define CURVE(name, m, need, h) \
	POINT(name "-at-2-gflop", m, 0, need, h), POINT(name "-at-8-gflop", m, 1, need, h), POINT(name "-at-32-gflop", m, 2, need, h), \
	POINT(name "-at-128-gflop", m, 3, need, h), POINT(name "-at-512-gflop", m, 4, need, h), POINT(name "-at-2048-gflop", m, 5, need, h), \
	POINT(name "-at-8192-gflop", m, 6, need, h)

static const struct field gpu_family_rows[] = {
	TEXT("id", gpu_family, id, true, "name; the file is called ID.json"),
	TEXT("label", gpu_family, label, true, "name for people"),
	TEXT("source", gpu_family, source, true, "where the curves come from"),
	{ .key = "generation", .type = FIELD_NAME, AT(gpu_family, generation, int32_t), .required = true, .names = gpu_generation_names,
		.help = "which framework level applies" },
	CURVE("bf16", bf16_curve, true, "share of the dense 16-bit peak that a matrix multiply of this size reaches"),
	CURVE("fp8", fp8_curve, false, "the same for 8 bit, activation quantisation included"),
	INT("tile-m", gpu_family, tile_m, true, 1, 4096, "rows", "output tile of a matrix multiply"),
	INT("tile-n", gpu_family, tile_n, true, 1, 4096, "columns", "output tile of a matrix multiply"),
	INT("multiprocessors", gpu_family, multiprocessors, true, 1, 4096, "", "streaming multiprocessors"),
	LATENCY("all-reduce-latency", COLLECTIVE_ALL_REDUCE, "inside the link domain"),
	RATE("all-reduce-bw", COLLECTIVE_ALL_REDUCE, "bus bandwidth inside the link domain"),
	LATENCY("gather-latency", COLLECTIVE_GATHER, "all-gather and reduce-scatter"),
	RATE("gather-bw", COLLECTIVE_GATHER, "all-gather and reduce-scatter"),
	LATENCY("all-to-all-latency", COLLECTIVE_ALL_TO_ALL, "inside the link domain"),
	RATE("all-to-all-bw", COLLECTIVE_ALL_TO_ALL, "inside the link domain"),
	REAL("link-bw", gpu_family, link_bps, 1e6, "GB/s", "link per GPU, one direction, of the part measured"),
	REAL("nic-bw", gpu_family, nic_bps, 1e4, "GB/s", "network per GPU where the node does not say"),
	INT("link-domain", gpu_family, link_domain, false, 0, 65536, "GPUs", "GPUs that are fully meshed, where fewer than a node"),
	COEFFICIENT("gemm-level", gpu_family, gemm_level, "16-bit matrix multiplies in training over the curve"),
	COEFFICIENT("gemm8-level", gpu_family, gemm8_level, "the same, 8 bit"),
	COEFFICIENT("gemm4-level", gpu_family, gemm4_level, "the same, 4 bit"),
	COEFFICIENT("attention-rate", gpu_family, attention_rate, "fused attention forward over peak"),
	{ .key = "small-head-factor", .type = FIELD_REAL, AT(gpu_family, small_head_factor, double), .required = true, .min = 0.001, .max = 1,
		.help = "attention rate with head_dim below 128" },
};
/* clang-format on */

const struct field_table gpu_fields = { "gpu", sizeof(struct gpu), gpu_rows, sizeof gpu_rows / sizeof gpu_rows[0] };
const struct field_table gpu_price_fields = { "price", sizeof(struct gpu_price), gpu_price_rows,
	sizeof gpu_price_rows / sizeof gpu_price_rows[0] };
const struct field_table node_fields = { "node", sizeof(struct node), node_rows, sizeof node_rows / sizeof node_rows[0] };
const struct field_table gpu_family_fields = { "gpu family", sizeof(struct gpu_family), gpu_family_rows,
	sizeof gpu_family_rows / sizeof gpu_family_rows[0] };

enum err_code gpu_family_check(const struct gpu_family *f, struct err *e)
{
	int given = 0;

	for (int i = 0; i < CURVE_POINTS; i++)
		given += f->fp8_curve[i] > 0;
	if (given > 0 && given < CURVE_POINTS)
		return err_set(e, ERR_FILE, "fp8-at-2-gflop", "%d points of the 8-bit curve are given; legal: all %d or none",
			given, (int)CURVE_POINTS);
	return ERR_OK;
}

double hardware_host_bps(int64_t pcie_generation)
{
	return 0.8 * ldexp(15.75e9, (int)pcie_generation - 3);
}
