#ifndef STRATA_CSQLITE_H
#define STRATA_CSQLITE_H
#include <sqlite3.h>

/* sqlite3_config and sqlite3_db_config take any number of arguments, and are not imported. */
static inline int strata_sqlite_leave_out_memory_statistics(void) {
  return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

/* One of the SQLITE_DBCONFIG_ settings that take a flag. */
static inline int strata_sqlite_set(sqlite3 *database, int setting, int value) {
  return sqlite3_db_config(database, setting, value, (int *)0);
}
#endif
