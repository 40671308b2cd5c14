/* What other calculators answer to the same question, computed by their own rules: for `explain --compare` and for the notes
 * beside our figures. Each function's comment says what that calculator leaves out. */
#ifndef MESHPLAN_ESTIMATORS_H
#define MESHPLAN_ESTIMATORS_H

#include "scenario.h"

#include <stdbool.h>
#include <stdint.h>

/* Bytes on one GPU and in one node's host memory. */
struct estimate {
	double gpu_bytes, host_bytes;
};

/* DeepSpeed's estimate_zero2_model_states_mem_needs. Leaves out activations, buckets and communication; its host figure grows
 * with all GPUs of the cluster. Src: DeepSpeed deepspeed/runtime/zero/stage_1_and_2.py. */
struct estimate estimator_deepspeed_zero2(double params, int64_t gpus_per_node, int64_t nodes, bool cpu_offload);
/* DeepSpeed's estimate_zero3_model_states_mem_needs. largest_layer_params: the largest single Linear or Embedding. Leaves out
 * activations and buckets; its working set is 4 bytes of one matrix. Src: DeepSpeed deepspeed/runtime/zero/stage3.py. */
struct estimate estimator_deepspeed_zero3(double params, double largest_layer_params, int64_t gpus_per_node, int64_t nodes,
	bool cpu_offload, bool cpu_offload_params, bool zero_init);
/* Parameters of the largest Linear or Embedding of the model: what that estimator calls the largest layer. */
int64_t estimator_largest_matrix(const struct model *m);
/* Megatron-LM's report_theoretical_memory, weight and optimizer part of the most loaded shard: 18 or 6 + 12/dp bytes of what a
 * rank holds: layers / pp, matrices / tp with the embedding (twice if untied and pp = 1), norms and routers whole, experts / (ep
 * etp) with the dp of their own. Src: Megatron-LM megatron/training/theoretical_memory_usage.py. Leaves out biases, q/k norms,
 * context parallelism, every other precision and optimizer; averages the stages. */
double estimator_megatron_state(const struct scenario *s);
/* accelerate estimate-memory, "Training using Adam": four times the weights in the dtype. Leaves out sharding, activations, fp32
 * copies. */
double estimator_accelerate_adam(double params, double dtype_bytes);
/* The lesson's memory_calculator: weights and gradients of precision_bytes, two fp32 moments, divided by gpus from its ZeRO stage
 * on. */
double estimator_lesson(double params, double precision_bytes, int64_t gpus, int64_t zero);
/* ZeRO paper, figure 1: 2 + 2 + 12 bytes per parameter, the stage's part divided by dp. */
double estimator_zero_paper(double params, int64_t dp, int64_t zero);

#endif
