/* A thread counts in eight pages as fast as it can and sees that no count is lost, while another goes over all the others, so that the
 * eight are sent away while they are written.
 * usage: hammer ROUNDS */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { PAGES = 512, HOT = 8, WORDS = 4096 / 8 };
static volatile uint64_t *memory;
static atomic_int stop;
static long rounds;

static void *hammers(void *unused) {
	uint64_t right[HOT] = {0};
	for (int turn = 0; !stop; turn++) {
		int page = turn % HOT;
		for (int count = 0; count < 2000; count++) {
			if (memory[page * WORDS] != right[page]) {
				fprintf(stderr, "hammer: a count was lost\n");
				_exit(1);
			}
			memory[page * WORDS] = ++right[page];
		}
	}
	return unused;
}

static void *sweeps(void *unused) {
	for (long round = 0; round < rounds; round++)
		for (int page = HOT; page < PAGES; page++)
			memory[page * WORDS]++;
	stop = 1;
	return unused;
}

int main(int argc, char **argv) {
	if (argc < 2)
		return 2;
	rounds = atol(argv[1]);
	memory = calloc(PAGES, 4096);
	pthread_t one, other;
	if (!memory || pthread_create(&one, NULL, hammers, NULL) || pthread_create(&other, NULL, sweeps, NULL))
		return 3;
	pthread_join(other, NULL);
	pthread_join(one, NULL);
	printf("no count was lost\n");
	return 0;
}
