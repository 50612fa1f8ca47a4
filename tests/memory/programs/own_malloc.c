/* Has an allocator of its own, as programs that are linked to tcmalloc or jemalloc: it takes arenas by mmap, and ends the
 * process when it is given memory that is not its own. As jemalloc it is locked while the process forks, by functions of
 * pthread_atfork that need its arena. With -DLIBRARY it is that allocator alone. */
#define _GNU_SOURCE
#include <pthread.h>
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

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void before_fork(void) {
	pthread_mutex_lock(&lock);
	/* as what jemalloc knows of an arena, which lies in the arena */
	for (char *at = end ? end - ARENA : end; at < end; at += PAGE)
		*(volatile char *)at += 0;
}

static void after_fork(void) { pthread_mutex_unlock(&lock); }

__attribute__((constructor)) static void begin(void) { pthread_atfork(before_fork, after_fork, after_fork); }

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
	pthread_mutex_lock(&lock);
	if (!arena || (size_t)(end - arena) < bytes + sizeof(struct head)) {
		size_t length = bytes + sizeof(struct head) > ARENA ? bytes + PAGE : ARENA;
		arena = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		end = arena + length;
	}
	struct head *head = (struct head *)arena;
	arena += bytes + sizeof *head;
	head->bytes = bytes;
	head->mark = MARK;
	pthread_mutex_unlock(&lock);
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

size_t malloc_usable_size(void *memory) { return memory ? head_of(memory)->bytes : 0; }

#ifndef LIBRARY
int main(void) {
	size_t bytes = 8 << 20, sum = 0;
	volatile char *memory = malloc(bytes);
	for (int round = 0; round < 3; round++)
		for (size_t at = 0; at < bytes; at += PAGE)
			sum += ++memory[at];
	printf("%zu\n", sum);
	return sum != 6 * bytes / PAGE;
}
#endif
