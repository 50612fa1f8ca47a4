/* Makes a process by clone, which has memory of its own. */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

static int run(void *code) { return *(int *)code; }

int main(void) {
	size_t bytes = 1 << 20;
	char *stack = malloc(bytes);
	int code = 7, status = 0;
	pid_t child = clone(run, stack + bytes, SIGCHLD, &code);
	if (child < 0) {
		perror("clone");
		return 5;
	}
	waitpid(child, &status, 0);
	return WEXITSTATUS(status);
}
