#ifndef STRATA_CZLIB_H
#define STRATA_CZLIB_H
#include <zlib.h>

// inflateInit2 and deflateInit2 are macros that Swift cannot see.
// Window bits -15: a raw DEFLATE stream without a zlib header, as Core Data's model cache is.
static inline int strata_inflate_init_raw(z_stream *stream) { return inflateInit2(stream, -15); }
// 31: with the header and the checksum of a .gz.
static inline int strata_inflate_init_gzip(z_stream *stream) { return inflateInit2(stream, 31); }
static inline int strata_deflate_init_raw(z_stream *stream) {
  return deflateInit2(stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY);
}
#endif
