/* Mappings that have others mapped over them, moved, and closed: each byte is as it would be without the instrument.
 * usage: mappings FILE, a file of at least 64 KiB that begins with 'F' */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define CHECK(what) do { if (!(what)) { fprintf(stderr, "line %d: %s\n", __LINE__, #what); exit(1); } } while (0)
enum { PAGE = 4096, MANY = 1 << 20, DONTNEED_LOCKED = 24 };

static sigjmp_buf back;
static void caught(int number) { siglongjmp(back, number); }
static int faults(volatile char *at) {
	int number = sigsetjmp(back, 1);
	if (number == 0)
		(void)*at;
	return number == SIGSEGV;
}

int main(int argc, char **argv) {
	int file = argc > 1 ? open(argv[1], O_RDONLY) : -1;
	CHECK(file >= 0);
	signal(SIGSEGV, caught);
	int both = PROT_READ | PROT_WRITE, own = MAP_PRIVATE | MAP_ANONYMOUS;
	char *a = mmap(NULL, MANY, both, own, -1, 0);
	CHECK(a != MAP_FAILED);
	memset(a, 'a', MANY);
	/* a file in the middle, and what is beside it stays */
	CHECK(mmap(a + 16 * PAGE, 8 * PAGE, both, MAP_PRIVATE | MAP_FIXED, file, 0) == a + 16 * PAGE);
	CHECK(a[16 * PAGE] == 'F' && a[16 * PAGE - 1] == 'a' && a[24 * PAGE] == 'a');
	a[16 * PAGE] = 'x';
	/* one that cannot be, leaves all as it was */
	CHECK(mmap(a + 32 * PAGE, PAGE, both, MAP_PRIVATE | MAP_FIXED, 999, 0) == MAP_FAILED && errno == EBADF);
	CHECK(a[32 * PAGE] == 'a' && a[16 * PAGE] == 'x');
	/* memory of one's own again, empty */
	CHECK(mmap(a + 16 * PAGE, 8 * PAGE, both, own | MAP_FIXED, -1, 0) == a + 16 * PAGE);
	CHECK(a[16 * PAGE] == 0);
	a[16 * PAGE] = 'y';
	/* a part is given back: nobody can read it, the rest stays */
	CHECK(munmap(a + 64 * PAGE, 64 * PAGE) == 0);
	CHECK(faults(a + 64 * PAGE) && faults(a + 127 * PAGE) && a[63 * PAGE] == 'a' && a[128 * PAGE] == 'a');
	/* a shorter and a longer one */
	char *b = mmap(NULL, MANY, both, own, -1, 0);
	memset(b, 'b', MANY);
	CHECK(mremap(b, MANY, MANY / 2, 0) == b && faults(b + MANY / 2) && b[MANY / 2 - 1] == 'b');
	char *c = mremap(b, MANY / 2, 4 * MANY, MREMAP_MAYMOVE);
	CHECK(c != MAP_FAILED && c[0] == 'b' && c[MANY / 2 - 1] == 'b' && c[MANY / 2] == 0 && c[4 * MANY - 1] == 0);
	/* closed, and open again with what it held */
	CHECK(mprotect(c, MANY / 2, PROT_NONE) == 0 && faults(c));
	char *fill = malloc(8 * MANY);
	memset(fill, 'f', 8 * MANY);
	CHECK(mprotect(c, MANY / 2, both) == 0 && c[0] == 'b' && c[MANY / 2 - 1] == 'b');
	/* locked memory stays */
	char *locked = mmap(NULL, MANY, both, own, -1, 0);
	memset(locked, 'l', MANY);
	if (mlock(locked, 16 * PAGE) == 0) {
		memset(fill, 'g', 8 * MANY);
		CHECK(locked[0] == 'l' && munlock(locked, 16 * PAGE) == 0);
	}
	/* locked memory is emptied only if that is wanted, and is empty when it is given out again */
	memset(locked, 'l', MANY);
	if (mlock(locked + 16 * PAGE, 4 * PAGE) == 0) {
		CHECK(madvise(locked, MANY, MADV_DONTNEED) == -1 && errno == EINVAL);
		CHECK(locked[0] == 0 && locked[16 * PAGE] == 'l' && locked[20 * PAGE - 1] == 'l');
		if (madvise(locked, MANY, DONTNEED_LOCKED) == 0) /* Linux 5.18 */
			CHECK(locked[16 * PAGE] == 0 && locked[20 * PAGE - 1] == 0 && locked[MANY - 1] == 0);
		memset(locked, 'l', MANY);
		CHECK(munmap(locked, MANY) == 0 && faults(locked + 16 * PAGE));
		locked = mmap(NULL, MANY, both, own, -1, 0);
		for (int at = 0; at < MANY; at += 64)
			CHECK(locked[at] == 0);
		char *l = malloc(2 * MANY);
		memset(l, 'l', 2 * MANY);
		CHECK(mlock(l, 4 * PAGE) == 0);
		free(l);
		l = calloc(2, MANY);
		for (int at = 0; at < 2 * MANY; at += 64)
			CHECK(l[at] == 0);
		free(l);
	}
	/* emptied */
	memset(locked, 'l', MANY);
	CHECK(madvise(locked, MANY, MADV_DONTNEED) == 0 && locked[0] == 0 && locked[MANY - 1] == 0);
	memset(locked, 'l', MANY);
	CHECK(madvise(locked, MANY, DONTNEED_LOCKED) == 0 || errno == EINVAL);
	CHECK(madvise(locked, MANY, MADV_REMOVE) == -1);
	/* allocations that are freed and taken again: those of calloc are empty */
	for (int round = 0; round < 20; round++) {
		char *again = round % 3 ? malloc(MANY / 2) : calloc(1, MANY / 2);
		for (int at = 0; at < MANY / 2 && round % 3 == 0; at += 64)
			CHECK(again[at] == 0);
		memset(again, 'r', MANY / 2);
		free(again);
	}
	char *two[2] = {malloc(MANY / 2), malloc(MANY / 2)};
	CHECK(two[0] != two[1] && malloc_usable_size(two[0]) >= MANY / 2);
	/* allocations that shrink and grow */
	char *d = malloc(MANY);
	memset(d, 'd', MANY);
	d = realloc(d, 200);
	CHECK(d[0] == 'd' && d[199] == 'd');
	d = realloc(d, 3 * MANY);
	CHECK(d[0] == 'd' && d[199] == 'd');
	memset(d, 'e', 3 * MANY);
	char *e = calloc(3, MANY);
	for (int at = 0; at < 3 * MANY; at += 64)
		CHECK(e[at] == 0 && d[at] == 'e');
	free(d);
	free(e);
	CHECK(((size_t)aligned_alloc(64 * 1024, MANY) & 0xFFFF) == 0);
	CHECK(malloc((size_t)1 << 60) == NULL && errno == ENOMEM && realloc(fill, (size_t)1 << 60) == NULL && fill[0] != 0);
	CHECK(mmap(NULL, (size_t)1 << 60, both, own, -1, 0) == MAP_FAILED && errno == ENOMEM);
	CHECK(munmap(a + 1, PAGE) == -1 && errno == EINVAL);
	CHECK(a[16 * PAGE] == 'y');
	printf("as it would be\n");
	return 0;
}
