/* A library that is loaded before all others (LD_PRELOAD): of the calls that a database makes of its files, the one that
   FAULT_NTH counts fails once with FAULT_ERRNO. FAULT_CALL is write, sync, truncate or open; FAULT_FILE is a part of the
   files' path. It says on descriptor 2 that it struck. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static atomic_int calls;

static int strikes(const char *call, const char *path) {
  const char *wanted = getenv("FAULT_CALL");
  const char *file = getenv("FAULT_FILE");
  const char *nth = getenv("FAULT_NTH");
  if (!wanted || !file || !nth || strcmp(wanted, call) != 0 || !strstr(path, file)) return 0;
  if (atomic_fetch_add(&calls, 1) + 1 != atoi(nth)) return 0;
  dprintf(2, "struck\n");
  errno = atoi(getenv("FAULT_ERRNO"));
  return 1;
}

static int strikes_at(const char *call, int fd) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return strikes(call, path);
}

/* Of a write that fails a part may be on the disk. */
#define PWRITE(name)                                                                  \
  ssize_t name(int fd, const void *bytes, size_t count, off64_t at) {                 \
    ssize_t (*next)(int, const void *, size_t, off64_t) = dlsym(RTLD_NEXT, #name);    \
    if (!strikes_at("write", fd)) return next(fd, bytes, count, at);                  \
    int code = errno;                                                                 \
    next(fd, bytes, count / 2, at);                                                   \
    errno = code;                                                                     \
    return -1;                                                                        \
  }
PWRITE(pwrite64)
PWRITE(pwrite)

#define SYNC(name)                                                 \
  int name(int fd) {                                               \
    int (*next)(int) = dlsym(RTLD_NEXT, #name);                    \
    return strikes_at("sync", fd) ? -1 : next(fd);                 \
  }
SYNC(fsync)
SYNC(fdatasync)

#define TRUNCATE(name)                                             \
  int name(int fd, off64_t length) {                               \
    int (*next)(int, off64_t) = dlsym(RTLD_NEXT, #name);           \
    return strikes_at("truncate", fd) ? -1 : next(fd, length);     \
  }
TRUNCATE(ftruncate64)
TRUNCATE(ftruncate)

#define OPEN(name)                                                 \
  int name(const char *path, int flags, ...) {                     \
    va_list more;                                                  \
    va_start(more, flags);                                         \
    mode_t mode = va_arg(more, mode_t);                            \
    va_end(more);                                                  \
    int (*next)(const char *, int, ...) = dlsym(RTLD_NEXT, #name); \
    return strikes("open", path) ? -1 : next(path, flags, mode);   \
  }
OPEN(open64)
OPEN(open)
