#ifndef CContracts_h
#define CContracts_h

#include <stddef.h>
#include <stdint.h>

// Files of deploy/contracts as they were when this was compiled, so that the command serves the
// contract it was built to and needs no file beside it.

/// openapi.yaml; `*bytes` becomes its length.
const uint8_t *cc_openapi(size_t *bytes);

/// reasons.json; `*bytes` becomes its length.
const uint8_t *cc_reasons(size_t *bytes);

#endif
