#if defined(__linux__)
#include "Calls.h"
#include "include/FaultShim.h"

#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char *const names[KindCount] = FAULT_SHIM_KINDS;

static struct {
  const char *folder, *suffix, *log;
  unsigned kinds;
  long first, times;
  int error, kills, tears, fills;
} plan;

static atomic_long counted;

void *real_function(const char *name) { return dlsym(RTLD_NEXT, name); }

static int number_of_error(const char *name) {
  static const struct { const char *name; int number; } all[] = {
    {"EIO", EIO}, {"ENOSPC", ENOSPC}, {"EMFILE", EMFILE}, {"EACCES", EACCES}, {"EPERM", EPERM},
    {"EROFS", EROFS}, {"EDQUOT", EDQUOT},
  };
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (strcmp(all[i].name, name) == 0) return all[i].number;
  return EIO;
}

static unsigned kinds_in(const char *list) {
  unsigned result = 0;
  for (int kind = 0; kind < KindCount; kind++) {
    size_t length = strlen(names[kind]);
    for (const char *at = list; (at = strstr(at, names[kind])); at += length) {
      int begins = at == list || at[-1] == ',';
      if (begins && (at[length] == 0 || at[length] == ',')) result |= 1u << kind;
    }
  }
  return result;
}

// Read before main: the program may change its environment later.
__attribute__((constructor)) static void read_environment(void) {
  const char *kinds = getenv("FAULT_CALLS"), *first = getenv("FAULT_AT");
  const char *times = getenv("FAULT_TIMES"), *action = getenv("FAULT_ACTION");
  plan.suffix = getenv("FAULT_NAME");
  plan.log = getenv("FAULT_LOG");
  plan.kinds = kinds ? kinds_in(kinds) : (1u << Open) - 1;
  plan.first = first ? atol(first) : 0;
  plan.times = times ? atol(times) : 1;
  plan.tears = action && strcmp(action, "tear") == 0;
  plan.kills = !action || strcmp(action, "kill") == 0;
  plan.fills = action && strcmp(action, "full") == 0;
  plan.error = plan.fills ? ENOSPC : action ? number_of_error(action) : EIO;
  plan.folder = getenv("FAULT_FOLDER");
}

void end_program(void) {
  syscall(SYS_kill, syscall(SYS_getpid), SIGKILL);
  for (;;) syscall(SYS_pause);
}

// One write to a file opened for appending: lines of several threads do not mix.
static void note(enum Kind kind, const char *path) {
  char line[PATH_MAX + 64];
  size_t length = 0;
  for (const char *c = names[kind]; *c; c++) line[length++] = *c;
  line[length++] = ' ';
  for (const char *c = path; *c && length < sizeof line - 1; c++) line[length++] = *c;
  line[length++] = '\n';
  int file = (int)syscall(
    SYS_openat, AT_FDCWD, plan.log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0) return;
  syscall(SYS_write, file, line, length);
  syscall(SYS_close, file);
}

static enum Fate fate(enum Kind kind, const char *path) {
  size_t length = strlen(plan.folder);
  if (strncmp(path, plan.folder, length) != 0 || (path[length] != '/' && path[length] != 0))
    return Passes;
  if (plan.suffix) {
    size_t whole = strlen(path), end = strlen(plan.suffix);
    if (whole < end || strcmp(path + whole - end, plan.suffix) != 0) return Passes;
  }
  long number = atomic_fetch_add(&counted, 1) + 1;
  if (plan.log) note(kind, path);
  if (plan.first == 0 || number < plan.first) return Passes;
  if (plan.fills) {
    if (!(1u << kind & (1u << Write | 1u << Copy | 1u << MakeFolder | 1u << Link))) return Passes;
  } else if (plan.times != 0 && number >= plan.first + plan.times) return Passes;
  if (plan.kills || (plan.tears && kind != Write)) end_program();
  if (plan.tears) return Tears;
  errno = plan.error;
  return Fails;
}

static int is_counted(enum Kind kind) { return plan.folder && plan.kinds & (1u << kind); }

// The path of a descriptor; empty where it has none.
static void path_of(int descriptor, char *path) {
  char link[32] = "/proc/self/fd/", digits[12];
  size_t length = strlen(link), count = 0;
  unsigned rest = descriptor < 0 ? 0 : (unsigned)descriptor;
  do digits[count++] = (char)('0' + rest % 10); while ((rest /= 10) > 0);
  while (count > 0) link[length++] = digits[--count];
  link[length] = 0;
  long got = syscall(SYS_readlinkat, AT_FDCWD, link, path, PATH_MAX - 1);
  path[got > 0 ? got : 0] = 0;
}

enum Fate fate_of_descriptor(enum Kind kind, int descriptor) {
  if (!is_counted(kind)) return Passes;
  int saved = errno;
  char path[PATH_MAX];
  path_of(descriptor, path);
  enum Fate result = fate(kind, path);
  if (result == Passes) errno = saved;
  return result;
}

enum Fate fate_of_path(enum Kind kind, int folder, const char *path) {
  if (!is_counted(kind) || !path) return Passes;
  int saved = errno;
  char whole[2 * PATH_MAX];
  whole[0] = 0;
  if (path[0] != '/') {
    if (folder != AT_FDCWD) path_of(folder, whole);
    else if (syscall(SYS_getcwd, whole, PATH_MAX) <= 0) whole[0] = 0;
    strcat(whole, "/");
  }
  strncat(whole, path, PATH_MAX - 1);
  enum Fate result = fate(kind, whole);
  if (result == Passes) errno = saved;
  return result;
}
#endif
