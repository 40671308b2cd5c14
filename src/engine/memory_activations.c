/* Saved tensors: one row per tensor that a layer keeps for its backward, per micro-batch. Symbols: T tokens per rank (b s / c), u
 * = T h, a heads, k kv heads, d head dim, f MLP width, E experts, K experts per token, t tp; "/sp" = divided by t only with
 * sequence parallel. With unfused attention, dropout, GELU, LayerNorm, MHA, f = 4h and 16 bit the rows sum to s b h (34 + 5 a s /
 * h) (Korthikanti 2022 eq. 1). The rows name what reads each tensor in Megatron-LM; other frameworks differ by what recompute
 * drops. Ignored: scales of 8-bit formats, rounding of the allocator, ring buffers of context parallelism. */
#include "memory.h"

#include "memory_internal.h"

enum drop {
	DROP_FULL = 1, /* whole-layer recompute */
	DROP_CORE = 2, /* Megatron selective: core attention */
	DROP_OP = 4,   /* torchtitan selective: every other matrix multiply is kept */
	DROP_NORM = 8, /* HAI-LLM selective: norms, latent up-projections, the MLP's activation. Src: DeepSeek-V3 sec. 3.2.3 */
};
/* Bytes of HAI-LLM's 12-bit floats (E5M6). Src: DeepSeek-V3 sec. 3.3.3. */
#define BYTES_E5M6 1.5

static const char *drop_text(unsigned drop)
{
	static const char *const texts[16] = { [0] = "-",
		[DROP_FULL] = "full",
		[DROP_FULL | DROP_OP] = "full, selective (fsdp)",
		[DROP_FULL | DROP_CORE | DROP_OP] = "full, selective (megatron, fsdp)",
		[DROP_FULL | DROP_NORM] = "full, selective (hai-llm)",
		[DROP_FULL | DROP_OP | DROP_NORM] = "full, selective (fsdp, hai-llm)" };

	return texts[drop & 15u];
}

/* Collects rows, or only their bytes when rows is NULL (the hot path). */
struct table {
	const struct scenario *s;
	unsigned dropped; /* enum drop that applies here */
	struct saved_tensor *rows;
	size_t n, cap;
	double kept, all;
	double element;                   /* bytes of a value in the precision of the layers */
	double input_bytes;               /* the same of an input of a matrix multiply */
	double context_bytes, gate_bytes; /* of the attention output; of the inputs of the MLP's activation */
};

static void add(struct table *t, const char *name, const char *shape, double elements, double bytes, const char *divided_by,
	unsigned drop, const char *source)
{
	bool kept = (drop & t->dropped) == 0;

	t->all += elements * bytes;
	if (kept)
		t->kept += elements * bytes;
	if (t->rows == NULL || t->n >= t->cap)
		return;
	t->rows[t->n++] = (struct saved_tensor){ .name = name,
		.shape = shape,
		.elements = (int64_t)(elements + 0.5),
		.bytes_per_element = bytes,
		.divided_by = divided_by,
		.dropped_by = drop_text(drop),
		.kept = kept,
		.source = source };
}

static const char src_layer[] = "Korthikanti 2022 sec. 4; Megatron-LM megatron/core/transformer/transformer_layer.py";
static const char src_attention[] = "Megatron-LM megatron/core/transformer/attention.py";
static const char src_scores[] = "Megatron-LM megatron/core/transformer/dot_product_attention.py";
static const char src_mla[] = "Megatron-LM megatron/core/transformer/multi_latent_attention.py";
static const char src_mlp[] = "Megatron-LM megatron/core/transformer/mlp.py";
static const char src_moe[] = "Megatron-LM megatron/core/transformer/moe/token_dispatcher.py";

static void add_core_attention(struct table *t, double T)
{
	const struct model *m = &t->s->model;
	const struct training *tr = &t->s->training;
	double tp = (double)t->s->layout.tp, heads = (double)m->heads;
	double scores = heads * (double)tr->seq * (double)tr->seq * (double)tr->micro_batch / ((double)t->s->layout.cp * tp);

	if (tr->attention == ATTENTION_KERNEL_FLASH) {
		add(t, "log-sum-exp", "a T", heads * T / tp, 4, "tp", DROP_FULL, "FlashAttention (Dao 2022)");
		return;
	}
	add(t, "softmax output", "a s s b / c", scores, t->element, "tp", DROP_FULL | DROP_CORE | DROP_OP, src_scores);
	if (tr->attention_dropout > 0) {
		add(t, "attention dropout mask", "a s s b / c", scores, 1, "tp", DROP_FULL | DROP_CORE | DROP_OP, src_scores);
		add(t, "attention dropout output", "a s s b / c", scores, t->element, "tp", DROP_FULL | DROP_CORE | DROP_OP,
			src_scores);
	}
}

static void add_attention(struct table *t, double T)
{
	const struct model *m = &t->s->model;
	double tp = (double)t->s->layout.tp, a = (double)m->heads, k = (double)m->kv_heads, d = (double)m->head_dim;

	if (m->attention_type == ATTENTION_MLA) {
		double nope = (double)m->qk_nope_dim, rope = (double)m->qk_rope_dim, v = (double)m->v_head_dim;

		double latents = (double)(m->q_lora_rank + m->kv_lora_rank);

		add(t, "query and kv down-projections, rope key", "T (q_lora + kv_lora + rope)", T * (latents + rope), t->element,
			"-", DROP_FULL | DROP_OP, src_mla);
		add(t, "their norms", "T (q_lora + kv_lora)", T * latents, t->element, "-", DROP_FULL | DROP_OP | DROP_NORM,
			src_mla);
		add(t, "query, plain and rotated", "2 T a (nope + rope)", 2 * T * a * (nope + rope) / tp, t->element, "tp",
			DROP_FULL | DROP_OP | DROP_NORM, src_mla);
		add(t, "kv up-projection", "T a (nope + v)", T * a * (nope + v) / tp, t->element, "tp", DROP_FULL | DROP_NORM,
			src_mla);
		add(t, "assembled key", "T a (nope + rope)", T * a * (nope + rope) / tp, t->element, "tp",
			DROP_FULL | DROP_OP | DROP_NORM, src_mla);
	} else {
		add(t, "query", "T a d", T * a * d / tp, t->element, "tp", DROP_FULL, src_attention);
		add(t, "key", "T k d", T * k * d / tp, t->element, "tp", DROP_FULL | DROP_OP, src_attention);
		add(t, "value", "T k d", T * k * d / tp, t->element, "tp", DROP_FULL, src_attention);
		if (m->rope)
			add(t, "rotary copies of query and key", "T (a + k) d", T * (a + k) * d / tp, t->element, "tp",
				DROP_FULL | DROP_OP, src_attention);
	}
	add_core_attention(t, T);
	add(t, "attention context", "T a d", T * (double)model_context_width(m) / tp, t->context_bytes, "tp", DROP_FULL,
		src_attention);
}

static void add_mlp(
	struct table *t, const char *shape, double T, double width, double parts, const char *divided_by, const char *source)
{
	if (width <= 0)
		return;
	add(t, "MLP first output (gate)", shape, T * width / parts, t->gate_bytes, divided_by, DROP_FULL, source);
	if (t->s->model.gated_mlp)
		add(t, "MLP first output (up)", shape, T * width / parts, t->gate_bytes, divided_by, DROP_FULL | DROP_OP, source);
	add(t, "MLP activation output", shape, T * width / parts, t->input_bytes, divided_by, DROP_FULL | DROP_OP | DROP_NORM,
		source);
}

static void add_experts(struct table *t, double T, double sp)
{
	const struct model *m = &t->s->model;
	const struct layout *l = &t->s->layout;
	double routed = memory_routed_tokens(t->s);

	add(t, "router logits and probabilities", "2 T E", 2 * T * (double)m->experts / sp, 4, "sp", DROP_FULL | DROP_OP,
		"Megatron-LM megatron/core/transformer/moe/router.py");
	add(t, "permuted expert input", "K T h", routed * (double)m->hidden, t->input_bytes, l->etp == 1 ? "sp" : "-",
		DROP_FULL | DROP_OP, src_moe);
	add_mlp(t, "K T f", routed, (double)m->expert_ffn, (double)l->etp, l->etp == 1 ? "sp" : "etp",
		"Megatron-LM megatron/core/transformer/moe/experts.py");
	/* Probabilities may be applied before the second matrix: nothing reads its output then. ASSUMPTION for HAI-LLM. */
	add(t, "expert output before combine", "K T h", routed * (double)m->hidden, t->element, l->etp == 1 ? "sp" : "-",
		DROP_FULL | DROP_OP | DROP_NORM, src_moe);
	add_mlp(t, "T f", T, (double)model_shared_ffn(m), (double)l->tp, "tp",
		"Megatron-LM megatron/core/transformer/moe/shared_experts.py");
}

static unsigned dropped_here(const struct scenario *s)
{
	static const unsigned drops[SELECTIVE_KIND_COUNT] = {
		[SELECTIVE_CORE_ATTENTION] = DROP_CORE, [SELECTIVE_PER_OP] = DROP_OP, [SELECTIVE_NORMS] = DROP_NORM
	};

	if (s->training.recompute == RECOMPUTE_FULL)
		return DROP_FULL;
	if (s->training.recompute == RECOMPUTE_SELECTIVE)
		return drops[s->profile.selective];
	return 0;
}

static void fill(struct table *t, bool moe)
{
	const struct scenario *s = t->s;
	const struct profile *p = &s->profile;
	double T = memory_tokens(s), sp = memory_sp(s), u = T * (double)s->model.hidden;
	bool eight = scenario_eight_bit(s);

	t->dropped = dropped_here(s);
	t->element = scenario_element_bytes(s);
	t->input_bytes = eight && p->fp8_saves_inputs ? 1 : t->element;
	t->context_bytes = eight && t->dropped == DROP_NORM ? BYTES_E5M6 : t->input_bytes;
	t->gate_bytes = eight && t->dropped == DROP_NORM ? 1 : t->element;
	add(t, "layer input (norm 1 input)", "u", u / sp, t->element, "sp", 0, src_layer);
	add(t, "norm 1 output (QKV input)", "u", u / sp, t->input_bytes, "sp", DROP_FULL | DROP_OP | DROP_NORM, src_layer);
	add_attention(t, T);
	if (s->training.dropout > 0)
		add(t, "residual dropout masks (two)", "2 u", 2 * u / sp, 1, "sp", DROP_FULL | DROP_OP, src_layer);
	add(t, "norm 2 input", "u", u / sp, t->element, "sp", DROP_FULL | DROP_OP, src_layer);
	add(t, "norm 2 output (MLP input)", "u", u / sp, t->input_bytes, "sp", DROP_FULL | DROP_OP | DROP_NORM, src_layer);
	if (moe)
		add_experts(t, T, sp);
	else
		add_mlp(t, "T f", T, (double)s->model.ffn, (double)s->layout.tp, "tp", src_mlp);
	if (p->sac_saves_fc2 && t->dropped == DROP_OP)
		add(t, "MLP second output", "u", u / (double)s->layout.tp, t->element, "tp", DROP_FULL,
			"torchtitan torchtitan/distributed/activation_checkpoint.py");
}

size_t memory_saved_tensors(const struct scenario *s, bool moe, struct saved_tensor *rows, size_t cap)
{
	struct table t = { .s = s, .rows = rows, .cap = cap };

	if (!s->profile.models_activations)
		return 0;
	fill(&t, moe);
	return t.n;
}

void memory_layer_activations(const struct scenario *s, bool moe, double *kept_bytes, double *table_bytes)
{
	struct table t = { .s = s };

	fill(&t, moe);
	*kept_bytes = t.kept;
	*table_bytes = t.all;
}
