/* With -DLIBRARY: a library whose functions around a fork need memory that `touched` points to. Without: a program that forks. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BYTES = 8 << 20, PAGE = 4096 };

#ifdef LIBRARY
char *volatile touched;
static void touch(int want) {
	for (long at = 0; touched && at < BYTES; at += PAGE)
		if (((volatile char *)touched)[at]++ != want) {
			static const char why[] = "atfork: another byte than was written\n";
			(void)!write(2, why, sizeof why - 1);
			_exit(9);
		}
}
static int forks;
static void before(void) { touch(1 + 2 * forks); }
static void after(void) { touch(2 + 2 * forks++); }
__attribute__((constructor)) static void begin(void) { pthread_atfork(before, after, after); }
#else
extern char *volatile touched;
int main(void) {
	char *memory = malloc(BYTES), *other = malloc(4 * BYTES);
	memset(memory, 1, BYTES);
	memset(other, 2, 4 * BYTES);
	touched = memory;
	for (int round = 0; round < 3; round++) {
		int status;
		pid_t child = fork();
		if (child == 0) {
			for (long at = 0; at < 4 * BYTES; at += PAGE)
				if (other[at] != 2)
					_exit(8);
			_exit(memory[0] == 3 + 2 * round ? 0 : 7);
		}
		if (waitpid(child, &status, 0) != child || status) {
			fprintf(stderr, "atfork: the process that was forked ended with %x\n", status);
			return 1;
		}
	}
	printf("forked\n");
	return 0;
}
#endif
