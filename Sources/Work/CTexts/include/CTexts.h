#ifndef CTEXTS_H
#define CTEXTS_H

#include <stddef.h>

/// A file of this package that the compiler put into the program.
struct embedded_file {
  const char *name;
  const unsigned char *bytes;
  size_t count;
};

/// The file of that name, without its ending; bytes is NULL if there is none.
struct embedded_file embedded_file(const char *name);

#endif
