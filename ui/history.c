#include "history.h"

static struct draft *slot(struct history *h, size_t i)
{
	return &h->ring[(h->first + i) % HISTORY_MAX];
}

void history_init(struct history *h, const struct draft *d)
{
	h->first = 0;
	h->count = 1;
	h->at = 0;
	h->ring[0] = *d;
}

void history_push(struct history *h, const struct draft *d)
{
	h->count = h->at + 1;
	if (h->count == HISTORY_MAX) {
		h->first = (h->first + 1) % HISTORY_MAX;
		h->count--;
	}
	h->at = h->count++;
	*slot(h, h->at) = *d;
}

bool history_undo(struct history *h, struct draft *d)
{
	if (h->at == 0)
		return false;
	*d = *slot(h, --h->at);
	return true;
}

const struct draft *history_undone(const struct history *h)
{
	return h->at + 1 < h->count ? &h->ring[(h->first + h->at + 1) % HISTORY_MAX] : NULL;
}

bool history_redo(struct history *h, struct draft *d)
{
	if (h->at + 1 >= h->count)
		return false;
	*d = *slot(h, ++h->at);
	return true;
}
