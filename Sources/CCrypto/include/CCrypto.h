#ifndef CCrypto_h
#define CCrypto_h
#endif
