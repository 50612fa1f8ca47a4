/* Writes patterns to memory and verifies them, from several threads, while pages come and go.
 *
 * usage: checker THREADS MEBIBYTES STEPS SEED [fork]
 *
 * Each thread has blocks of malloc, calloc, realloc, posix_memalign and mmap, of which each 8 bytes say whose they are; at each step
 * it takes one of them at random and writes, verifies, grows, shrinks, moves, empties or frees it. All threads add to a block that they
 * share, too. With `fork`, processes are forked meanwhile, which verify all that they inherit and go on by themselves for a while.
 * Ends with 0 and one line if every byte was right. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BLOCKS = 24, PAGE = 4096 };

struct block {
	uint64_t *words;
	size_t bytes;
	uint64_t generation; /* 0: it reads as zeros */
	int mapped;          /* by mmap */
};

struct worker {
	uint64_t random;
	size_t most; /* bytes of a block */
	long steps;
	int id;
	int forks;
	struct block blocks[BLOCKS];
};

static _Atomic uint64_t *shared;
static size_t shared_words;
static _Atomic uint64_t added;
static pthread_mutex_t forking = PTHREAD_MUTEX_INITIALIZER;

static void fail(const char *what, struct worker *w, struct block *b, size_t at, uint64_t got, uint64_t want) {
	fprintf(stderr, "checker: %s: thread %d block %td word %zu of %zu: %llx, not %llx\n", what, w->id, b - w->blocks, at,
	        b->bytes / 8, (unsigned long long)got, (unsigned long long)want);
	_exit(1);
}

static uint64_t next(struct worker *w) {
	w->random ^= w->random << 13;
	w->random ^= w->random >> 7;
	w->random ^= w->random << 17;
	return w->random;
}

static uint64_t pattern(struct worker *w, struct block *b, size_t at) {
	if (b->generation == 0)
		return 0;
	uint64_t x = (at + 1) * 0x9E3779B97F4A7C15u ^ b->generation * 0xD6E8FEB86659FD93u ^ (uint64_t)(w->id + 1) << 56;
	return x ^ x >> 29;
}

static void write_all(struct worker *w, struct block *b) {
	b->generation = next(w) | 1;
	for (size_t at = 0; at < b->bytes / 8; at++)
		b->words[at] = pattern(w, b, at);
}

static void verify(struct worker *w, struct block *b, size_t from, size_t to, size_t step) {
	for (size_t at = from; at < to; at += step) {
		uint64_t got = b->words[at], want = pattern(w, b, at);
		if (got != want)
			fail("wrong word", w, b, at, got, want);
	}
}

static void verify_all(struct worker *w, struct block *b) { verify(w, b, 0, b->bytes / 8, 1); }

static size_t size(struct worker *w) { return PAGE * (1 + next(w) % (w->most / PAGE)); }

static void take(struct worker *w, struct block *b) {
	b->bytes = size(w);
	b->generation = 0;
	b->mapped = 0;
	switch (next(w) % 4) {
	case 0:
		b->words = malloc(b->bytes);
		if (b->words)
			write_all(w, b);
		break;
	case 1:
		b->words = calloc(b->bytes / 8, 8);
		break;
	case 2:
		if (posix_memalign((void **)&b->words, PAGE << next(w) % 3, b->bytes))
			b->words = NULL;
		else
			write_all(w, b);
		break;
	default:
		b->words = mmap(NULL, b->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		b->mapped = 1;
		if (b->words == MAP_FAILED)
			b->words = NULL;
	}
	if (!b->words) {
		fprintf(stderr, "checker: no memory\n");
		_exit(3);
	}
}

static void give(struct block *b) {
	if (b->mapped)
		munmap(b->words, b->bytes);
	else
		free(b->words);
	b->words = NULL;
}

static void resize(struct worker *w, struct block *b) {
	size_t bytes = size(w), before = b->bytes;
	uint64_t *words = b->mapped ? mremap(b->words, before, bytes, MREMAP_MAYMOVE) : realloc(b->words, bytes);
	if (!words || words == MAP_FAILED) {
		fprintf(stderr, "checker: no memory to resize\n");
		_exit(3);
	}
	b->words = words;
	b->bytes = bytes < before ? bytes : before;
	verify_all(w, b);
	b->bytes = bytes;
	write_all(w, b);
}

static void step(struct worker *w) {
	struct block *b = &w->blocks[next(w) % BLOCKS];
	if (!b->words) {
		take(w, b);
		return;
	}
	size_t words = b->bytes / 8;
	switch (next(w) % 16) {
	case 0:
		verify_all(w, b);
		give(b);
		break;
	case 1:
		resize(w, b);
		break;
	case 2:
		if (b->mapped) {
			madvise(b->words, b->bytes, MADV_DONTNEED);
			b->generation = 0;
			break;
		}
		/* fall through */
	case 3:
	case 4:
		verify_all(w, b);
		write_all(w, b);
		break;
	case 5: { /* protected, and open again */
		if (b->mapped) {
			mprotect(b->words, b->bytes, PROT_READ);
			verify(w, b, 0, words, 64);
			mprotect(b->words, b->bytes, PROT_READ | PROT_WRITE);
			b->words[next(w) % words] += 0;
		}
		break;
	}
	case 6: { /* by a system call, which faults in the kernel */
		int ends[2];
		if (pipe(ends))
			_exit(3);
		size_t at = next(w) % (words - PAGE / 16), bytes = PAGE / 2;
		if (write(ends[1], b->words + at, bytes) != (ssize_t)bytes)
			fail("write", w, b, at, 0, 0);
		memset(b->words + at, 0xAB, bytes);
		if (read(ends[0], b->words + at, bytes) != (ssize_t)bytes)
			fail("read", w, b, at, 0, 0);
		close(ends[0]);
		close(ends[1]);
		verify(w, b, at, at + bytes / 8, 1);
		break;
	}
	default: /* here and there */
		for (int i = 0; i < 64; i++) {
			size_t at = next(w) % words;
			verify(w, b, at, at + 1, 1);
			if (i % 2)
				b->words[at] = pattern(w, b, at);
		}
	}
	for (int i = 0; i < 16; i++) {
		atomic_fetch_add(&shared[next(w) % shared_words], 1);
		atomic_fetch_add(&added, 1);
	}
}

static void fork_one(struct worker *w) {
	pthread_mutex_lock(&forking);
	pid_t child = fork();
	if (child == 0) {
		for (int i = 0; i < BLOCKS; i++)
			if (w->blocks[i].words)
				verify_all(w, &w->blocks[i]);
		for (int i = 0; i < 200; i++)
			step(w);
		for (int i = 0; i < BLOCKS; i++)
			if (w->blocks[i].words)
				verify_all(w, &w->blocks[i]);
		_exit(0);
	}
	int status;
	if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
		fprintf(stderr, "checker: a process that was forked ended with %x\n", status);
		_exit(1);
	}
	pthread_mutex_unlock(&forking);
}

static void *work(void *argument) {
	struct worker *w = argument;
	for (long i = 0; i < w->steps; i++) {
		step(w);
		if (w->forks && i % (w->steps / 4 + 1) == 10)
			fork_one(w);
	}
	for (int i = 0; i < BLOCKS; i++)
		if (w->blocks[i].words) {
			verify_all(w, &w->blocks[i]);
			give(&w->blocks[i]);
		}
	return NULL;
}

int main(int argc, char **argv) {
	if (argc < 5)
		return 2;
	int threads = atoi(argv[1]);
	size_t mebibytes = (size_t)atol(argv[2]);
	shared_words = (4u << 20) / 8;
	shared = calloc(shared_words, 8);
	struct worker *workers = calloc((size_t)threads, sizeof *workers);
	pthread_t *ids = calloc((size_t)threads, sizeof *ids);
	if (!shared || !workers || !ids)
		return 3;
	for (int i = 0; i < threads; i++) {
		workers[i].random = (uint64_t)atol(argv[4]) * 1000003u + (uint64_t)i * 7919u + 88172645463325252u;
		workers[i].most = (mebibytes << 20) / (size_t)threads / BLOCKS * 2;
		workers[i].steps = atol(argv[3]);
		workers[i].id = i;
		workers[i].forks = argc > 5 && !strcmp(argv[5], "fork");
		if (pthread_create(&ids[i], NULL, work, &workers[i]))
			return 3;
	}
	for (int i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	uint64_t sum = 0;
	for (size_t at = 0; at < shared_words; at++)
		sum += shared[at];
	if (sum != added) {
		fprintf(stderr, "checker: %llu additions, of which %llu are there\n", (unsigned long long)added, (unsigned long long)sum);
		return 1;
	}
	free(shared);
	free(workers);
	free(ids);
	printf("every byte was right\n");
	return 0;
}
