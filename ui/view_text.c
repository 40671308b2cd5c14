#include "view_internal.h"

void pen_text(struct pen *p, const char *label, uint8_t style, const char *text)
{
	const int top = p->row - p->skip;
	const int hidden = top < 0 ? -top : 0, room = p->r.h - (top > 0 ? top : 0);
	if (top >= 0 && top < p->r.h)
		(void)canvas_text(p->c, p->r.x, p->r.y + top, PEN_LABEL_W - 1, ROLE_DIM, label);
	const struct rect r = { p->r.x + PEN_LABEL_W, p->r.y + (top > 0 ? top : 0), p->r.w - PEN_LABEL_W, room > 0 ? room : 0 };
	const int rows = canvas_wrap(p->c, r, hidden, style, text);
	p->row += rows > 0 ? rows : 1;
}

void pen_gap(struct pen *p)
{
	p->row++;
}
