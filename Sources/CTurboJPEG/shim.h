#ifndef STRATA_CTURBOJPEG_H
#define STRATA_CTURBOJPEG_H
#include <turbojpeg.h>

// TJSCALED is a macro with arguments.
static inline int strata_tj_scaled(int size, tjscalingfactor factor) {
  return TJSCALED(size, factor);
}
#endif
