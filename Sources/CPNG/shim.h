#ifndef STRATA_CPNG_H
#define STRATA_CPNG_H
#include <string.h>
#include <png.h>

// Swift cannot see the macros that give the version and the pixel format. The simplified API keeps
// its longjmp to itself: every call returns, 0 for a failure.
static inline int strata_png_begin(png_image *image, const void *bytes, size_t count) {
  memset(image, 0, sizeof *image);
  image->version = PNG_IMAGE_VERSION;
  return png_image_begin_read_from_memory(image, bytes, count);
}
static inline int strata_png_read(png_image *image, void *pixels) {
  image->format = PNG_FORMAT_RGBA;
  return png_image_finish_read(image, NULL, pixels, 0, NULL);
}
#endif
