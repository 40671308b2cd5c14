/* GPUs and nodes as plain data from presets. Rates are dense peaks per GPU, links are one direction. 0 = not known. */
#ifndef MESHPLAN_HARDWARE_H
#define MESHPLAN_HARDWARE_H

#include "err.h"
#include "field.h"

#include <stdint.h>

enum gpu_form { GPU_FORM_SXM, GPU_FORM_OAM, GPU_FORM_PCIE, GPU_FORM_NVL, GPU_FORM_CONSUMER, GPU_FORM_OTHER, GPU_FORM_COUNT };

enum { HARDWARE_ID_CAP = 40, HARDWARE_LABEL_CAP = 64 };

enum { CURVE_POINTS = 7 };
extern const double curve_gflop[CURVE_POINTS]; /* sizes of the points of a curve, each four times the one before */
enum gpu_generation { GENERATION_VOLTA, GENERATION_AMPERE, GENERATION_HOPPER, GENERATION_BLACKWELL, GENERATION_COUNT };
extern const char *const gpu_generation_names[GENERATION_COUNT + 1];
enum collective {
	COLLECTIVE_ALL_REDUCE,
	COLLECTIVE_GATHER,
	COLLECTIVE_ALL_TO_ALL,
	COLLECTIVE_COUNT
}; /* gather: and reduce-scatter, broadcast */

/* What GPUs of one architecture have in common: measured efficiency of matrix multiplies and collectives. */
struct gpu_family {
	char id[HARDWARE_ID_CAP], label[HARDWARE_LABEL_CAP], source[200];
	int32_t generation;                                       /* enum gpu_generation */
	double bf16_curve[CURVE_POINTS], fp8_curve[CURVE_POINTS]; /* share of peak by size; all 0: none */
	int64_t tile_m, tile_n, multiprocessors;
	double latency_us[COLLECTIVE_COUNT], rate_bps[COLLECTIVE_COUNT]; /* inside the link domain */
	double link_bps;     /* per GPU and direction, of the part these rates were measured on */
	double nic_bps;      /* per GPU, where the node says nothing */
	int64_t link_domain; /* GPUs that are fully meshed, where that is fewer than a node; 0: the node */
	int32_t gemm_level, gemm8_level, gemm4_level, attention_rate; /* enum coefficient */
	double small_head_factor;                                     /* attention rate with head_dim below 128 */
};

struct gpu {
	char id[HARDWARE_ID_CAP], label[HARDWARE_LABEL_CAP], vendor[24];
	int32_t form; /* enum gpu_form */
	int64_t year;
	int64_t mem_nominal_bytes; /* the number on the box */
	int64_t mem_smi_bytes;     /* what nvidia-smi shows */
	int64_t mem_cuda_bytes;    /* what CUDA hands out: the verdict compares with this */
	int32_t mem_cuda_derived;  /* 1: mem_smi_bytes - 0.6 GiB, not seen in a message */
	double mem_bw_bps;
	double fp32_flops, tf32_flops, bf16_flops, fp16_flops, fp8_flops, fp4_flops, int8_flops; /* FLOP/s, dense */
	char link[24];                                                                           /* intra-node link, "NVLink4" */
	double link_bps;                                                                         /* bytes/s, one direction */
	int64_t pcie_gen;
	double tdp_w;
	int64_t gpus_per_node;        /* typical */
	char family[HARDWARE_ID_CAP]; /* gpu_family with its efficiency curves; empty: speed is not known */
	double usd_per_hour;          /* of the file, else of the first of its prices; 0: not known */
	char usd_provider[64], usd_date[40];
};

enum price_kind { PRICE_ON_DEMAND, PRICE_RESERVED, PRICE_SPOT, PRICE_MARKETPLACE, PRICE_LESSON, PRICE_KIND_COUNT };
extern const char *const price_kind_names[PRICE_KIND_COUNT + 1];

/* What somebody asks for an hour of a GPU. */
struct gpu_price {
	char gpu_id[HARDWARE_ID_CAP];
	char name[96]; /* provider and kind: what --price understands */
	double usd_per_hour;
	int32_t kind; /* enum price_kind */
	char provider[64], date[40], source[320], source_kind[24], notes[160];
};

struct node {
	char id[HARDWARE_ID_CAP], label[HARDWARE_LABEL_CAP], gpu_id[HARDWARE_ID_CAP];
	int64_t gpus_per_node, nvlink_domain_gpus;
	int64_t host_mem_bytes, nvme_bytes; /* per node; 0: not known */
	double nvme_read_bps, nvme_write_bps;
	int64_t nics;
	double nic_bps; /* each, one direction */
	char fabric[40];
};

/* What a copy between GPU and host sustains over 16 lanes of this PCIe generation, bytes per second and direction. ASSUMPTION:
 * through pinned memory 80 % of 15.75 GB/s in generation 3, twice that in each further one. */
double hardware_host_bps(int64_t pcie_generation);

extern const struct field_table gpu_fields, gpu_price_fields, node_fields, gpu_family_fields;
/* What no field can say of itself. ERR_FILE: a curve with gaps; e->where is the key. */
enum err_code gpu_family_check(const struct gpu_family *f, struct err *e) NODISCARD;

#endif
