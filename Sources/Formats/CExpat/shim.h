#ifndef STRATA_CEXPAT_H
#define STRATA_CEXPAT_H
#include <expat.h>
#endif
