#ifndef STRATA_CPICTURES_H
#define STRATA_CPICTURES_H
#include <stdint.h>

// What libpng's simplified API (1.6) and TurboJPEG pass by pointer or by value: both libraries are
// opened when the program runs, so that it builds where their headers are not.

typedef struct {
  void *opaque;
  uint32_t version; // 1
  uint32_t width;
  uint32_t height;
  uint32_t format;
  uint32_t flags;
  uint32_t colormap_entries;
  uint32_t warning_or_error;
  char message[64];
} strata_png_image;

typedef struct {
  int num;
  int denom;
} strata_tj_factor;
#endif
