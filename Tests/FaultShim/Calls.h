// What the wrappers of system calls share.
#ifndef FAULT_SHIM_CALLS_H
#define FAULT_SHIM_CALLS_H

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>

enum Kind {
  Write, Sync, Rename, Link, Unlink, Truncate, Copy, MakeFolder, Create, Open, Read, List, Mode,
  KindCount
};

// What is to become of a call.
enum Fate { Passes, Fails, Tears };

// Counts a call on a path, taken relative to a folder's descriptor where it is relative. Does not
// return where the program is killed here; sets errno where the call is to fail.
enum Fate fate_of_path(enum Kind kind, int folder, const char *path);
enum Fate fate_of_descriptor(enum Kind kind, int descriptor);
void end_program(void) __attribute__((noreturn));

// The function that would have been called without this library.
#define REAL(name) ((__typeof__(&name))real_function(#name))
void *real_function(const char *name);

#endif
