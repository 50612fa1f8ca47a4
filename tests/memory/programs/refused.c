/* Asks for what cannot be done while memory is remote: O_DIRECT in each of the ways that the C library has, and mlockall.
 * usage: refused FILE; prints how each went */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void print_result(const char *what, int result) { printf("%s %s\n", what, result >= 0 ? "done" : strerrorname_np(errno)); }

int main(int argc, char **argv) {
	if (argc < 2)
		return 2;
	const char *path = argv[1];
	/* Flags that the compiler does not know: then it calls those functions that check them. */
	volatile int direct = O_RDONLY | O_DIRECT, plain = O_RDONLY;
	print_result("open", open(path, direct));
	print_result("open with a mode", open(path, direct, 0600));
	print_result("open64", open64(path, direct));
	print_result("openat", openat(AT_FDCWD, path, direct));
	print_result("openat64", openat64(AT_FDCWD, path, direct));
	int file = open(path, plain);
	print_result("plain", file);
	print_result("F_SETFL", fcntl(file, F_SETFL, direct));
	print_result("F_SETFL plain", fcntl(file, F_SETFL, O_NONBLOCK));
	int ends[2];
	print_result("packets", pipe2(ends, O_DIRECT) ? -1 : fcntl(ends[0], F_SETFL, fcntl(ends[0], F_GETFL) | O_NONBLOCK));
	print_result("F_GETFL", fcntl(file, F_GETFL));
	print_result("F_DUPFD", fcntl(file, F_DUPFD, 100));
	char *memory = malloc(8 << 20);
	memset(memory, 1, 8 << 20);
	print_result("mlockall", mlockall(MCL_CURRENT | MCL_FUTURE));
	print_result("mlock", mlock(memory, 1 << 14));
	return 0;
}
