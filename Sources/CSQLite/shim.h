#ifndef STRATA_CSQLITE_H
#define STRATA_CSQLITE_H
#include <sqlite3.h>
#endif
