#include "text.h"

#include <stdio.h>
#include <string.h>

char text_lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool text_same(const char *a, const char *b)
{
	while (*a != '\0' && text_lower(*a) == text_lower(*b)) {
		a++;
		b++;
	}
	return text_lower(*a) == text_lower(*b);
}

void text_join(char *list, size_t cap, const char *separator, const char *word)
{
	size_t len = strlen(list);

	(void)snprintf(list + len, cap - len, "%s%s", len > 0 ? separator : "", word);
}

const char *text_plural(int64_t n, const char *one, const char *many)
{
	return n == 1 ? one : many;
}

bool text_is_control(const unsigned char *p)
{
	return p[0] < 0x20 || p[0] == 0x7F || (p[0] == 0xC2 && p[1] >= 0x80 && p[1] < 0xA0);
}

void text_make_printable(char *text)
{
	unsigned char *p = (unsigned char *)text;

	while (*p != '\0') {
		size_t n = text_utf8_length(p, 4);

		if (n == 0 || text_is_control(p))
			*p++ = '?';
		else
			p += n;
	}
}

size_t text_utf8_length(const unsigned char *p, size_t most)
{
	size_t n = p[0] < 0x80 ? 1 : p[0] < 0xC2 ? 0 : p[0] < 0xE0 ? 2 : p[0] < 0xF0 ? 3 : p[0] < 0xF5 ? 4 : 0;

	if (n > most)
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((p[i] & 0xC0) != 0x80)
			return 0;
	if ((p[0] == 0xE0 && p[1] < 0xA0) || (p[0] == 0xED && p[1] > 0x9F) || (p[0] == 0xF0 && p[1] < 0x90) ||
		(p[0] == 0xF4 && p[1] > 0x8F))
		return 0;
	return n;
}
