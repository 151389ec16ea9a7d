/// A library for LD_PRELOAD that lets one system call of a program fail, or kills it there.
///
/// Only calls on paths below FAULT_FOLDER count, numbered from 1 through all threads:
///
///     FAULT_FOLDER=/tmp/place    nothing is counted without it; no link in it
///     FAULT_CALLS=write,fsync    which kinds count; all that change something without it:
///                                write fsync rename link unlink truncate copy mkdir create
///                                and, when named: open read list mode
///     FAULT_NAME=-wal            only paths that end so
///     FAULT_AT=7                 the call that fails; none without it
///     FAULT_TIMES=1              how many fail from there on; 0 for all
///     FAULT_ACTION=kill          or tear (half of a write, then kill), or full (from there on ENOSPC
///                                for what needs space, whatever FAULT_TIMES says), or EIO,
///                                ENOSPC, EMFILE, EACCES, EPERM, EROFS, EDQUOT
///     FAULT_LOG=/tmp/log         gets a line for each call that counts: its kind and path
///
/// Linux only; an empty library elsewhere.
#ifndef FAULT_SHIM_H
#define FAULT_SHIM_H

#define FAULT_SHIM_KINDS \
  { "write", "fsync", "rename", "link", "unlink", "truncate", "copy", "mkdir", "create", "open", \
    "read", "list", "mode" }

#endif
