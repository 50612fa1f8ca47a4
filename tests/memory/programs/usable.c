/* Uses an allocator that is a library beside the C library's: what one of its functions gives the others know, in processes that
 * are forked as well. */
#define _GNU_SOURCE
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int use(void) {
	char *small = malloc(100);
	if (malloc_usable_size(small) < 100 || malloc_usable_size(NULL) != 0)
		return 1;
	memset(small, 's', 100);
	char *large = realloc(small, 8 << 20);
	if (malloc_usable_size(large) < 8 << 20 || large[0] != 's' || large[99] != 's')
		return 2;
	for (int round = 0; round < 3; round++)
		for (size_t at = 0; at < 8 << 20; at += 4096)
			((volatile char *)large)[at] += 1;
	free(large);
	char *empty = calloc(1000, 1000);
	for (int at = 0; at < 1000000; at++)
		if (empty[at])
			return 3;
	free(empty);
	return 0;
}

int main(void) {
	int code = use(), status = 0;
	for (int round = 0; round < 5 && !code; round++) {
		pid_t child = fork();
		if (child == 0)
			_exit(use());
		if (waitpid(child, &status, 0) != child || status)
			return 10 + WEXITSTATUS(status);
	}
	printf("all its own\n");
	return code;
}
