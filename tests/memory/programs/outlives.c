/* A program whose main thread ends before another one, which then ends the process: by what is left to do at its exit.
 * outlives [fork]: in a process that it forks; its exit code is that one's.
 * outlives stay now: the other one is busy for 20 s. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { BYTES = 4 << 20, STEP = 64 };

static void at_exit(void) { puts("the end"); }

static void *stay(void *nothing) {
  for (time_t end = time(NULL) + 20; time(NULL) < end;)
    ;
  return nothing;
}

static void *last(void *nothing) {
  usleep(50000); /* by now the main thread has ended */
  unsigned char *memory = malloc(BYTES), *page = memory + 4096 - (size_t)memory % 4096;
  for (size_t i = 0; i < BYTES; i += STEP)
    memory[i] = (unsigned char)(i / STEP);
  if (madvise(page, 1 << 20, MADV_DONTNEED))
    perror("madvise");
  unsigned long wrong = 0;
  for (size_t i = 0; i < BYTES; i += STEP)
    wrong += memory[i] != (memory + i >= page && memory + i < page + (1 << 20) ? 0 : (unsigned char)(i / STEP));
  printf("%lu wrong\n", wrong);
  return nothing;
}

int main(int count, char **arguments) {
  (void)arguments;
  int status = 0;
  if (count == 2 && fork())
    return wait(&status) < 0 || status ? 1 : 0;
  atexit(at_exit);
  pthread_t thread;
  if (pthread_create(&thread, NULL, count == 3 ? stay : last, NULL))
    return 2;
  pthread_exit(NULL);
}
