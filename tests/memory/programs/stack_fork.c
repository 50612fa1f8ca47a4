/* A thread whose stack is memory of malloc forks, again and again, while others have pages come and go, so that its stack
 * is sent away at any moment.
 * With an argument, fork waits for a lock of stdio meanwhile, which is held by a thread that waits for pages. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BYTES = 8 << 20, PAGE = 4096, ROUNDS = 100, SWEEPERS = 3 };
static char *memory;
static atomic_int stop, writing;

static void sweep(void) {
	for (size_t at = 0; at < BYTES && !stop; at += PAGE)
		((volatile char *)memory)[at]++;
}

static void *sweeps(void *unused) {
	while (!stop)
		sweep();
	return unused;
}

static int deep(int depth) {
	volatile char frame[5000];
	memset((void *)frame, depth, sizeof frame);
	int below = depth ? deep(depth - 1) : 0;
	for (size_t at = 0; at < sizeof frame; at += 512)
		below |= frame[at] != (char)depth;
	return below;
}

static void *forks(void *unused) {
	for (int round = 0; round < ROUNDS; round++) {
		int status;
		if (deep(50))
			exit(4);
		pid_t child = fork();
		if (child == 0)
			_exit(deep(40));
		if (waitpid(child, &status, 0) != child || status) {
			fprintf(stderr, "stack_fork: the process that was forked ended with %x\n", status);
			exit(1);
		}
	}
	return unused;
}

static ssize_t slowly(void *unused, const char *text, size_t bytes) {
	(void)unused, (void)text;
	writing = 1;
	for (int round = 0; round < 8000; round++)
		sweep();
	return (ssize_t)bytes;
}

static void *flushes(void *unused) {
	/* holds the list of all streams meanwhile */
	fflush(NULL);
	return unused;
}

int main(int argc, char **argv) {
	(void)argv;
	memory = malloc(BYTES);
	memset(memory, 1, BYTES);
	pthread_t one, others[SWEEPERS];
	if (argc > 1) {
		FILE *stream = fopencookie(NULL, "w", (cookie_io_functions_t){.write = slowly});
		fputs("text", stream);
		pthread_create(&one, NULL, flushes, NULL);
		while (!writing)
			usleep(100);
		if (fork() == 0)
			_exit(0);
		wait(NULL);
		pthread_join(one, NULL);
	} else {
		pthread_attr_t attributes;
		void *stack;
		if (posix_memalign(&stack, PAGE, 1 << 20) || pthread_attr_init(&attributes))
			return 3;
		pthread_attr_setstack(&attributes, stack, 1 << 20);
		for (int other = 0; other < SWEEPERS; other++)
			pthread_create(&others[other], NULL, sweeps, NULL);
		pthread_create(&one, &attributes, forks, NULL);
		pthread_join(one, NULL);
		stop = 1;
		for (int other = 0; other < SWEEPERS; other++)
			pthread_join(others[other], NULL);
	}
	printf("forked\n");
	return 0;
}
