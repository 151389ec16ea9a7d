#ifndef STRATA_CCRYPTO_H
#define STRATA_CCRYPTO_H
#include <openssl/evp.h>
#include <openssl/sha.h>
#endif
