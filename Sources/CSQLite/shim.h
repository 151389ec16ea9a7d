#ifndef STRATA_CSQLITE_H
#define STRATA_CSQLITE_H
#include <sqlite3.h>

/* sqlite3_config takes any number of arguments, and is not imported. */
static inline int strata_sqlite_leave_out_memory_statistics(void) {
  return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}
#endif
