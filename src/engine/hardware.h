/* GPUs and nodes as plain data from presets. Rates are dense peaks per GPU, links are one direction. 0 = not known. */
#ifndef MESHPLAN_HARDWARE_H
#define MESHPLAN_HARDWARE_H

#include "field.h"

#include <stdint.h>

enum gpu_form { GPU_FORM_SXM, GPU_FORM_OAM, GPU_FORM_PCIE, GPU_FORM_NVL, GPU_FORM_CONSUMER, GPU_FORM_OTHER, GPU_FORM_COUNT };
extern const char *const gpu_form_names[GPU_FORM_COUNT + 1];

enum { HARDWARE_ID_CAP = 40, HARDWARE_LABEL_CAP = 64 };

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
	char link[24];             /* intra-node link, "NVLink4" */
	double link_bps;           /* bytes/s, one direction */
	int64_t pcie_gen;
	double tdp_w;
	int64_t gpus_per_node;     /* typical */
	double usd_per_hour;       /* editable default, see the preset file for provider and date */
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

extern const struct field_table gpu_fields, node_fields;

#endif
