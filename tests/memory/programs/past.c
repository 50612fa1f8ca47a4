/* Gives memory back by a system call of its own, of which the C library does not know, and then reads it, or (with an argument)
 * goes on with other memory. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv) {
	(void)argv;
	size_t bytes = 32 << 20;
	char *memory = malloc(bytes);
	memset(memory, 1, bytes);
	char *aligned = (char *)(((size_t)memory + 4095) & ~(size_t)4095);
	if (syscall(SYS_madvise, aligned, bytes - 8192, MADV_DONTNEED))
		return 3;
	if (argc > 1) {
		char *other = malloc(bytes);
		memset(other, 2, bytes);
	}
	size_t sum = 0;
	for (size_t at = bytes - 8192; at > 8192; at -= 4096)
		sum += (size_t)memory[at];
	printf("%zu\n", sum);
	return 0;
}
