/* Goes over pages again and again, in order: with fewer of them local, fifo and lru fetch every one every time.
 * usage: walker PAGES ROUNDS [FIRST], a number other than 0 to read the first page between any two others */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv) {
	if (argc < 3)
		return 2;
	long pages = atol(argv[1]), rounds = atol(argv[2]), first = argc > 3 ? atol(argv[3]) : 0, sum = 0;
	volatile char *memory = malloc((size_t)pages * 4096);
	if (!memory)
		return 3;
	for (long page = 0; page < pages; page++)
		memory[page * 4096] = 1;
	for (long round = 0; round < rounds; round++)
		for (long page = 0; page < pages; page++)
			sum += memory[page * 4096] + (first ? memory[0] : 0);
	/* What is counted of the last fetch is counted by then. */
	usleep(5000);
	printf("%ld pages, %ld rounds, 1,234.5 ops/s\n", pages, rounds);
	return sum != pages * rounds * (first ? 2 : 1);
}
