#if defined(__linux__)
#include "Calls.h"

#include <stdarg.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

// Calls on open files. Each name with 64 at its end is the same call for programs that ask for
// large files.

static size_t half(size_t count) { return count > 1 ? count / 2 : count; }

ssize_t write(int file, const void *bytes, size_t count) {
  switch (fate_of_descriptor(Write, file)) {
  case Fails: return -1;
  case Tears: REAL(write)(file, bytes, half(count)); end_program();
  case Passes: return REAL(write)(file, bytes, count);
  }
  return -1;
}

#define POSITIONED_WRITE(name, offset_type) \
  ssize_t name(int file, const void *bytes, size_t count, offset_type offset) { \
    switch (fate_of_descriptor(Write, file)) { \
    case Fails: return -1; \
    case Tears: REAL(name)(file, bytes, half(count), offset); end_program(); \
    case Passes: return REAL(name)(file, bytes, count, offset); \
    } \
    return -1; \
  }
POSITIONED_WRITE(pwrite, off_t)
POSITIONED_WRITE(pwrite64, off64_t)

#define FAILING(kind, file, call) return fate_of_descriptor(kind, file) == Passes ? (call) : -1

ssize_t writev(int file, const struct iovec *parts, int count) {
  FAILING(Write, file, REAL(writev)(file, parts, count));
}
ssize_t pwritev(int file, const struct iovec *parts, int count, off_t offset) {
  FAILING(Write, file, REAL(pwritev)(file, parts, count, offset));
}
ssize_t pwritev64(int file, const struct iovec *parts, int count, off64_t offset) {
  FAILING(Write, file, REAL(pwritev64)(file, parts, count, offset));
}

ssize_t read(int file, void *bytes, size_t count) {
  FAILING(Read, file, REAL(read)(file, bytes, count));
}
ssize_t pread(int file, void *bytes, size_t count, off_t offset) {
  FAILING(Read, file, REAL(pread)(file, bytes, count, offset));
}
ssize_t pread64(int file, void *bytes, size_t count, off64_t offset) {
  FAILING(Read, file, REAL(pread64)(file, bytes, count, offset));
}

int fsync(int file) { FAILING(Sync, file, REAL(fsync)(file)); }
int fdatasync(int file) { FAILING(Sync, file, REAL(fdatasync)(file)); }

int ftruncate(int file, off_t size) { FAILING(Truncate, file, REAL(ftruncate)(file, size)); }
int ftruncate64(int file, off64_t size) { FAILING(Truncate, file, REAL(ftruncate64)(file, size)); }
int fallocate(int file, int mode, off_t offset, off_t size) {
  FAILING(Truncate, file, REAL(fallocate)(file, mode, offset, size));
}
int fallocate64(int file, int mode, off64_t offset, off64_t size) {
  FAILING(Truncate, file, REAL(fallocate64)(file, mode, offset, size));
}
// These answer the error's number.
int posix_fallocate(int file, off_t offset, off_t size) {
  if (fate_of_descriptor(Truncate, file) != Passes) return errno;
  return REAL(posix_fallocate)(file, offset, size);
}
int posix_fallocate64(int file, off64_t offset, off64_t size) {
  if (fate_of_descriptor(Truncate, file) != Passes) return errno;
  return REAL(posix_fallocate64)(file, offset, size);
}

int ioctl(int file, unsigned long request, ...) {
  va_list list;
  va_start(list, request);
  void *argument = va_arg(list, void *);
  va_end(list);
  // FICLONE, which shares a file's blocks with another.
  if (request == 0x40049409 && fate_of_descriptor(Copy, file) != Passes) return -1;
  return REAL(ioctl)(file, request, argument);
}

int fchmod(int file, mode_t mode) { FAILING(Mode, file, REAL(fchmod)(file, mode)); }
int fchown(int file, uid_t user, gid_t group) {
  FAILING(Mode, file, REAL(fchown)(file, user, group));
}
#endif
