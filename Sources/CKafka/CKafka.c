#include "CKafka.h"
