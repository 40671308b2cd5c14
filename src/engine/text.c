#include "text.h"

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

const char *text_plural(int64_t n, const char *one, const char *many)
{
	return n == 1 ? one : many;
}
