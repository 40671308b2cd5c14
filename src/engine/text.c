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
