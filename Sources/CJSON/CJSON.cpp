#include "CJSON.h"

#include <memory>
#include <new>
#include <simdjson.h>

struct cj_indexer {
  std::unique_ptr<simdjson::internal::dom_parser_implementation> stage;
  size_t capacity = 0;
};

static const size_t depthUnused = 1;  // the second stage is never run

static bool reserve(cj_indexer *indexer, size_t capacity) {
  if (capacity <= indexer->capacity) return true;
  std::unique_ptr<simdjson::internal::dom_parser_implementation> stage;
  if (simdjson::get_active_implementation()->create_dom_parser_implementation(
          capacity, depthUnused, stage) != simdjson::SUCCESS)
    return false;
  indexer->stage = std::move(stage);
  indexer->capacity = capacity;
  return true;
}

cj_indexer *cj_create(size_t capacity) {
  auto *indexer = new (std::nothrow) cj_indexer();
  if (indexer && !reserve(indexer, capacity)) {
    delete indexer;
    return nullptr;
  }
  return indexer;
}

void cj_destroy(cj_indexer *indexer) { delete indexer; }

cj_status cj_index(cj_indexer *indexer, const uint8_t *bytes, size_t length,
                   const uint32_t **positions, uint32_t *count) {
  *count = 0;
  if (length == 0) return CJ_EMPTY;
  if (!reserve(indexer, length)) return CJ_NO_MEMORY;
  auto error = indexer->stage->stage1(bytes, length, simdjson::stage1_mode::regular);
  switch (error) {
    case simdjson::SUCCESS: break;
    case simdjson::EMPTY: return CJ_EMPTY;
    case simdjson::UNCLOSED_STRING: return CJ_UNCLOSED_STRING;
    case simdjson::UNESCAPED_CHARS: return CJ_CONTROL_IN_STRING;
    case simdjson::MEMALLOC: return CJ_NO_MEMORY;
    default: return CJ_INVALID_UTF8;
  }
  *positions = indexer->stage->structural_indexes.get();
  *count = indexer->stage->n_structural_indexes;
  return CJ_OK;
}
