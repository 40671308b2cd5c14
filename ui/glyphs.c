#include "glyphs.h"

#include "ui_text.h"

#include <stddef.h>

/* clang-format off */
const struct glyph_info glyph_table[GLYPH_COUNT] = {
	[GLYPH_FULL] = {N_("fill: weights, gradients"), 0x2588, '#'},
	[GLYPH_DARK] = {N_("fill: master copy, optimizer"), 0x2593, '='},
	[GLYPH_MEDIUM] = {N_("fill: activations, transient; F, B"), 0x2592, '+'},
	[GLYPH_LIGHT] = {N_("fill: logits, reserved"), 0x2591, '-'},
	[GLYPH_LIMIT] = {N_("limit of the card"), 0x2502, '|'},
	[GLYPH_BEYOND] = {N_("beyond the limit"), 0x00bb, '!'},
	[GLYPH_MORE] = {N_("goes on outside the field"), 0x25ba, '>'},
	[GLYPH_STOP] = {N_("legal stop of a slider"), 0x253c, '+'},
	[GLYPH_ROAD] = {N_("road of a slider"), 0x2500, '-'},
	[GLYPH_THUMB] = {N_("present value"), 0x25a0, 'O'},
	[GLYPH_CHOICE] = {N_("value of a choice"), 0x00b7, '.'},
	[GLYPH_FOCUS] = {N_("focus"), 0x25ba, '>'},
	[GLYPH_PREVIOUS] = {N_("one step down"), 0x25c4, '<'},
	[GLYPH_NEXT] = {N_("one step up"), 0x25ba, '>'},
	[GLYPH_IDLE] = {N_("idle"), 0x00b7, '.'},
	[GLYPH_REST] = {N_("the action goes on"), 0x2500, '-'},
	[GLYPH_BORDER] = {N_("the action ends"), 0x2502, '|'},
	[GLYPH_NOW_ABOVE] = {N_("this tick, from above"), 0x25bc, 'v'},
	[GLYPH_NOW_BELOW] = {N_("this tick, from below"), 0x25b2, '^'},
	[GLYPH_CUT] = {N_("time, or words, are left out"), '~', '~'},
};
/* clang-format on */

/* Ranges of code points, ascending. */
struct range {
	uint32_t first, last;
};

/* clang-format off */
/* Combining marks and format characters that a terminal draws in the cell before. */
static const struct range zero_width[] = {
	{ 0x0300, 0x036f }, { 0x0483, 0x0489 }, { 0x0591, 0x05bd }, { 0x0610, 0x061a }, { 0x064b, 0x065f }, { 0x0e31, 0x0e31 },
	{ 0x0e34, 0x0e3a }, { 0x0e47, 0x0e4e }, { 0x1ab0, 0x1aff }, { 0x1dc0, 0x1dff }, { 0x200b, 0x200f }, { 0x202a, 0x202e },
	{ 0x2060, 0x2064 }, { 0x20d0, 0x20ff }, { 0xfe00, 0xfe0f }, { 0xfe20, 0xfe2f }, { 0xfeff, 0xfeff },
	{ 0xe0100, 0xe01ef },
};

/* East Asian wide and fullwidth, and emoji. Src: Unicode EastAsianWidth.txt, whole blocks. */
static const struct range double_width[] = {
	{ 0x1100, 0x115f }, { 0x231a, 0x231b }, { 0x23e9, 0x23ec }, { 0x2e80, 0x303e }, { 0x3041, 0x33ff }, { 0x3400, 0x4dbf },
	{ 0x4e00, 0x9fff }, { 0xa000, 0xa4cf }, { 0xa960, 0xa97f }, { 0xac00, 0xd7a3 }, { 0xf900, 0xfaff }, { 0xfe30, 0xfe6f },
	{ 0xff00, 0xff60 }, { 0xffe0, 0xffe6 }, { 0x1f300, 0x1f64f }, { 0x1f680, 0x1f6ff }, { 0x1f900, 0x1f9ff },
	{ 0x1fa70, 0x1faff }, { 0x20000, 0x2fffd }, { 0x30000, 0x3fffd },
};
/* clang-format on */

static bool in_ranges(uint32_t code, const struct range *ranges, size_t n)
{
	for (size_t i = 0; i < n && ranges[i].first <= code; i++) {
		if (code <= ranges[i].last)
			return true;
	}
	return false;
}

uint32_t glyph_code(enum glyph g, bool ascii)
{
	return ascii ? (uint32_t)(unsigned char)glyph_table[g].ascii : glyph_table[g].unicode;
}

int glyph_width(uint32_t code)
{
	if (code < 0x20 || (code >= 0x7f && code < 0xa0))
		return 0;
	if (in_ranges(code, zero_width, sizeof(zero_width) / sizeof(zero_width[0])))
		return 0;
	return in_ranges(code, double_width, sizeof(double_width) / sizeof(double_width[0])) ? 2 : 1;
}

/* Bytes that follow a lead byte, and the bits of the lead that count; -1: not a lead byte. */
static int utf8_tail(unsigned char lead, uint32_t *bits)
{
	if (lead < 0x80) {
		*bits = lead;
		return 0;
	}
	if (lead >= 0xc2 && lead < 0xe0) {
		*bits = lead & 0x1fU;
		return 1;
	}
	if (lead >= 0xe0 && lead < 0xf0) {
		*bits = lead & 0x0fU;
		return 2;
	}
	if (lead >= 0xf0 && lead < 0xf5) {
		*bits = lead & 0x07U;
		return 3;
	}
	return -1;
}

uint32_t glyph_decode(const char **text)
{
	static const uint32_t smallest[4] = { 0, 0x80, 0x800, 0x10000 };
	const char *at = *text;
	uint32_t code = 0;
	if (*at == '\0')
		return 0;
	const int tail = utf8_tail((unsigned char)*at++, &code);
	for (int i = 0; i < tail; i++) {
		const unsigned char byte = (unsigned char)at[i];
		if ((byte & 0xc0U) != 0x80U) {
			*text += 1;
			return 0xfffd;
		}
		code = code << 6 | (byte & 0x3fU);
	}
	if (tail < 0 || code < smallest[tail] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) {
		*text += 1;
		return 0xfffd;
	}
	*text = at + tail;
	return code;
}

int glyph_encode(uint32_t code, char out[5])
{
	int n = 0;
	if (code < 0x80) {
		out[n++] = (char)code;
	} else if (code < 0x800) {
		out[n++] = (char)(0xc0U | code >> 6);
		out[n++] = (char)(0x80U | (code & 0x3fU));
	} else if (code < 0x10000) {
		out[n++] = (char)(0xe0U | code >> 12);
		out[n++] = (char)(0x80U | (code >> 6 & 0x3fU));
		out[n++] = (char)(0x80U | (code & 0x3fU));
	} else {
		out[n++] = (char)(0xf0U | (code >> 18 & 0x07U));
		out[n++] = (char)(0x80U | (code >> 12 & 0x3fU));
		out[n++] = (char)(0x80U | (code >> 6 & 0x3fU));
		out[n++] = (char)(0x80U | (code & 0x3fU));
	}
	out[n] = '\0';
	return n;
}
