/* Allocates and frees again and again, and reallocates a large block so that it has to move.
 * usage: again TIMES MEBIBYTES [mremap], with that the block is a mapping */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int argc, char **argv) {
	if (argc < 3)
		return 2;
	for (long time = atol(argv[1]); time > 0; time--) {
		volatile char *memory = malloc(200000);
		memory[0] = 1;
		free((void *)memory);
	}
	size_t bytes = (size_t)atol(argv[2]) << 20;
	int mapped = argc > 3;
	char *block = mapped ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) : malloc(bytes);
	for (size_t at = 0; at < bytes; at += 4096)
		block[at] = (char)(at >> 12) | 1;
	char *behind = malloc(1 << 20);
	block = mapped ? mremap(block, bytes, 2 * bytes, MREMAP_MAYMOVE) : realloc(block, 2 * bytes);
	if (!block || block == MAP_FAILED) {
		fprintf(stderr, "again: no memory\n");
		return 3;
	}
	for (size_t at = 0; at < bytes; at += 4096)
		if (block[at] != (char)((char)(at >> 12) | 1)) {
			fprintf(stderr, "again: another byte than was written\n");
			return 1;
		}
	/* What is counted of the last call is counted by then. */
	usleep(20000);
	printf("as it was written\n");
	free(behind);
	return 0;
}
