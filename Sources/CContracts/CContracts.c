#include "CContracts.h"

static const uint8_t openapi[] = {
#embed "../../deploy/contracts/openapi.yaml"
};

const uint8_t *cc_openapi(size_t *bytes) {
  *bytes = sizeof openapi;
  return openapi;
}

static const uint8_t reasons[] = {
#embed "../../deploy/contracts/reasons.json"
};

const uint8_t *cc_reasons(size_t *bytes) {
  *bytes = sizeof reasons;
  return reasons;
}
