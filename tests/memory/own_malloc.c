/* Has an allocator of its own, as programs that are linked to tcmalloc or jemalloc: it takes arenas by mmap, and ends the
 * process when it is given memory that is not its own. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MARK = 0x6d61726b, ARENA = 1 << 20, PAGE = 4096 };

struct head {
	size_t bytes;
	uint64_t mark;
};
static char *arena, *end;

static struct head *head_of(void *memory) {
	struct head *head = (struct head *)memory - 1;
	if (head->mark != MARK) {
		static const char why[] = "own_malloc: memory of another allocator\n";
		(void)!write(2, why, sizeof why - 1);
		_exit(9);
	}
	return head;
}

void *malloc(size_t bytes) {
	bytes = (bytes + 15) & ~(size_t)15;
	if (!arena || (size_t)(end - arena) < bytes + sizeof(struct head)) {
		size_t length = bytes + sizeof(struct head) > ARENA ? bytes + PAGE : ARENA;
		arena = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		end = arena + length;
	}
	struct head *head = (struct head *)arena;
	arena += bytes + sizeof *head;
	head->bytes = bytes;
	head->mark = MARK;
	return head + 1;
}

void free(void *memory) {
	if (memory)
		head_of(memory);
}

void *calloc(size_t count, size_t bytes) { return malloc(count * bytes); }

void *realloc(void *memory, size_t bytes) {
	if (!memory)
		return malloc(bytes);
	struct head *head = head_of(memory);
	return memcpy(malloc(bytes), memory, head->bytes < bytes ? head->bytes : bytes);
}

int main(void) {
	size_t bytes = 8 << 20, sum = 0;
	volatile char *memory = malloc(bytes);
	for (int round = 0; round < 3; round++)
		for (size_t at = 0; at < bytes; at += PAGE)
			sum += ++memory[at];
	printf("%zu\n", sum);
	return sum != 6 * bytes / PAGE;
}
