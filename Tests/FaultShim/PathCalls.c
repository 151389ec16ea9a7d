#if defined(__linux__)
#include "Calls.h"

#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

// Calls on names. Those with `at` take a folder's descriptor.

#define FAILING(kind, folder, path, call) \
  return fate_of_path(kind, folder, path) == Passes ? (call) : -1
#define HERE AT_FDCWD

static int makes_file(int flags) {
  return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
}

#define OPENING(name) \
  int name(const char *path, int flags, ...) { \
    va_list list; \
    va_start(list, flags); \
    mode_t mode = makes_file(flags) ? va_arg(list, mode_t) : 0; \
    va_end(list); \
    FAILING(makes_file(flags) ? Create : Open, HERE, path, REAL(name)(path, flags, mode)); \
  }
OPENING(open)
OPENING(open64)

#define OPENING_AT(name) \
  int name(int folder, const char *path, int flags, ...) { \
    va_list list; \
    va_start(list, flags); \
    mode_t mode = makes_file(flags) ? va_arg(list, mode_t) : 0; \
    va_end(list); \
    FAILING( \
      makes_file(flags) ? Create : Open, folder, path, REAL(name)(folder, path, flags, mode)); \
  }
OPENING_AT(openat)
OPENING_AT(openat64)

DIR *opendir(const char *path) {
  return fate_of_path(List, HERE, path) == Passes ? REAL(opendir)(path) : NULL;
}

DIR *fdopendir(int folder) {
  return fate_of_descriptor(List, folder) == Passes ? REAL(fdopendir)(folder) : NULL;
}

// The new name of a file counts: it is where something appears.
int rename(const char *from, const char *to) { FAILING(Rename, HERE, to, REAL(rename)(from, to)); }
int renameat(int folder, const char *from, int other, const char *to) {
  FAILING(Rename, other, to, REAL(renameat)(folder, from, other, to));
}
int renameat2(int folder, const char *from, int other, const char *to, unsigned flags) {
  FAILING(Rename, other, to, REAL(renameat2)(folder, from, other, to, flags));
}
int link(const char *from, const char *to) { FAILING(Link, HERE, to, REAL(link)(from, to)); }
int linkat(int folder, const char *from, int other, const char *to, int flags) {
  FAILING(Link, other, to, REAL(linkat)(folder, from, other, to, flags));
}
int symlink(const char *from, const char *to) { FAILING(Link, HERE, to, REAL(symlink)(from, to)); }
int symlinkat(const char *from, int folder, const char *to) {
  FAILING(Link, folder, to, REAL(symlinkat)(from, folder, to));
}

int unlink(const char *path) { FAILING(Unlink, HERE, path, REAL(unlink)(path)); }
int unlinkat(int folder, const char *path, int flags) {
  FAILING(Unlink, folder, path, REAL(unlinkat)(folder, path, flags));
}
int rmdir(const char *path) { FAILING(Unlink, HERE, path, REAL(rmdir)(path)); }
int remove(const char *path) { FAILING(Unlink, HERE, path, REAL(remove)(path)); }

int truncate(const char *path, off_t size) {
  FAILING(Truncate, HERE, path, REAL(truncate)(path, size));
}
int truncate64(const char *path, off64_t size) {
  FAILING(Truncate, HERE, path, REAL(truncate64)(path, size));
}

int mkdir(const char *path, mode_t mode) { FAILING(MakeFolder, HERE, path, REAL(mkdir)(path, mode)); }
int mkdirat(int folder, const char *path, mode_t mode) {
  FAILING(MakeFolder, folder, path, REAL(mkdirat)(folder, path, mode));
}
char *mkdtemp(char *template) {
  return fate_of_path(MakeFolder, HERE, template) == Passes ? REAL(mkdtemp)(template) : NULL;
}

int chmod(const char *path, mode_t mode) { FAILING(Mode, HERE, path, REAL(chmod)(path, mode)); }
int fchmodat(int folder, const char *path, mode_t mode, int flags) {
  FAILING(Mode, folder, path, REAL(fchmodat)(folder, path, mode, flags));
}
int chown(const char *path, uid_t user, gid_t group) {
  FAILING(Mode, HERE, path, REAL(chown)(path, user, group));
}
int lchown(const char *path, uid_t user, gid_t group) {
  FAILING(Mode, HERE, path, REAL(lchown)(path, user, group));
}
int fchownat(int folder, const char *path, uid_t user, gid_t group, int flags) {
  FAILING(Mode, folder, path, REAL(fchownat)(folder, path, user, group, flags));
}
#endif
