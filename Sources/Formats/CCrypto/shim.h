#ifndef STRATA_CCRYPTO_H
#define STRATA_CCRYPTO_H
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/sha.h>
#include <sys/prctl.h>

// prctl() takes a variable number of arguments, which Swift cannot call.
static inline int strata_forbid_core_dumps(void) {
  return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}
#endif
