/* Preloaded: at the N-th change of the file system by a process, kills its process group or fills the disk.

   INCAST_CHAOS_AT: N. INCAST_CHAOS_MODE: "kill", or "full": changes that need space fail from then on.
   INCAST_CHAOS_HIT: a file that is made then. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_long changes;
static long at;
static int fills;

__attribute__((constructor)) static void begin(void) {
    const char *number = getenv("INCAST_CHAOS_AT"), *mode = getenv("INCAST_CHAOS_MODE");
    at = number ? atol(number) : 0;
    fills = mode && !strcmp(mode, "full");
}

/* Counts a change; true if it must fail. */
static int struck(int grows) {
    long now = atomic_fetch_add(&changes, 1) + 1;
    if (!at || now < at) return 0;
    const char *hit = getenv("INCAST_CHAOS_HIT");
    if (now == at && hit) syscall(SYS_close, syscall(SYS_openat, AT_FDCWD, hit, O_CREAT | O_WRONLY, 0600));
    if (!fills) kill(0, SIGKILL);
    if (grows) errno = ENOSPC;
    return grows;
}

static int regular(int file) {
    struct stat about;
    return fstat(file, &about) == 0 && S_ISREG(about.st_mode);
}

#define HOOK(type, name, parameters, arguments, counts, grows)                                                         \
    type name parameters {                                                                                             \
        static type(*real) parameters;                                                                                 \
        if (!real) real = (type(*) parameters)dlsym(RTLD_NEXT, #name);                                                 \
        return (counts) && struck(grows) ? (type)-1 : real arguments;                                                  \
    }

HOOK(int, rename, (const char *a, const char *b), (a, b), 1, 0)
HOOK(int, renameat, (int x, const char *a, int y, const char *b), (x, a, y, b), 1, 0)
HOOK(int, link, (const char *a, const char *b), (a, b), 1, 1)
HOOK(int, linkat, (int x, const char *a, int y, const char *b, int f), (x, a, y, b, f), 1, 1)
HOOK(int, unlink, (const char *a), (a), 1, 0)
HOOK(int, unlinkat, (int x, const char *a, int f), (x, a, f), 1, 0)
HOOK(int, mkdir, (const char *a, mode_t m), (a, m), 1, 1)
HOOK(int, mkdirat, (int x, const char *a, mode_t m), (x, a, m), 1, 1)
HOOK(int, rmdir, (const char *a), (a), 1, 0)
HOOK(int, chmod, (const char *a, mode_t m), (a, m), 1, 0)
HOOK(int, fchmod, (int x, mode_t m), (x, m), 1, 0)
HOOK(int, fsync, (int x), (x), 1, 0)
HOOK(ssize_t, write, (int x, const void *from, size_t n), (x, from, n), regular(x), 1)
HOOK(ssize_t, pwrite, (int x, const void *from, size_t n, off_t o), (x, from, n, o), regular(x), 1)
HOOK(ssize_t, pwrite64, (int x, const void *from, size_t n, off_t o), (x, from, n, o), regular(x), 1)

#define OPEN(name, parameters, arguments)                                                                              \
    int name parameters {                                                                                              \
        static int (*real)(int, const char *, int, ...);                                                               \
        if (!real) real = (int (*)(int, const char *, int, ...))dlsym(RTLD_NEXT, "openat64");                          \
        va_list more;                                                                                                  \
        va_start(more, flags);                                                                                         \
        mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(more, mode_t) : 0;                                      \
        va_end(more);                                                                                                  \
        return flags & O_CREAT && struck(1) ? -1 : real arguments;                                                     \
    }

OPEN(open, (const char *path, int flags, ...), (AT_FDCWD, path, flags, mode))
OPEN(open64, (const char *path, int flags, ...), (AT_FDCWD, path, flags, mode))
OPEN(openat, (int folder, const char *path, int flags, ...), (folder, path, flags, mode))
OPEN(openat64, (int folder, const char *path, int flags, ...), (folder, path, flags, mode))
