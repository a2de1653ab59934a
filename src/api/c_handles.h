// What stands behind the handles of sact/c.h: objects of the C++ library.
#pragma once

#include <algorithm>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "sact/c.h"
#include "sact/sact.h"

struct sact_image {
  sact::Image image;
};

struct sact_model {
  sact::Model model;
  std::vector<std::string> labels;  // of all classes
};

struct sact_input {
  sact::NetworkInput input;
};

struct sact_session {
  sact::Session session;
};

struct sact_result {
  sact::Result result;
  std::vector<sact::ClassScore> ranked;  // all classes, the best first
};

struct sact_detector {
  sact::Detector detector;
};

struct sact_detections {
  sact::Detections detections;
};

struct sact_map {
  sact::Map map;
};

namespace sact::api {

void set_text(sact_error* error, const char* text);

/// Calls `call`, and makes a status and a text of what it throws. Nothing gets out.
template <typename Call>
sact_status guarded(sact_error* error, const Call& call) noexcept {
  set_text(error, "");
  try {
    call();
    return SACT_OK;
  } catch (const Cancelled& cancelled) {
    set_text(error, cancelled.what());
    return SACT_CANCELLED;
  } catch (const std::bad_alloc&) {
    set_text(error, "there is not enough memory");
  } catch (const std::exception& other) {
    set_text(error, other.what());
  } catch (...) {
    set_text(error, "an exception that is none of the library's");
  }
  return SACT_FAILED;
}

/// The handle that `make` gives, or null.
template <typename Make>
auto handle_of(sact_error* error, const Make& make) noexcept -> decltype(make()) {
  decltype(make()) handle = nullptr;
  guarded(error, [&] { handle = make(); });
  return handle;
}

/// What is not null. sact::Error names what is.
template <typename Handle>
Handle& given(Handle* handle, const char* what) {
  if (!handle) throw Error(std::string(what) + " is NULL");
  return *handle;
}

// Options of C as those of C++.
SessionOptions options_of(const sact_session_options* options);
InputOptions options_of(const sact_input_options* options);
RunOptions options_of(const sact_run_options* options);
SaliencyOptions options_of(const sact_saliency_options* options);
std::vector<ImageView> views_of(const sact_image_view* images, int count);

/// Stores a handle for each item; on failure none.
template <typename Handle, typename Item, typename Make>
void store_handles(const std::vector<Item>& items, Handle** handles, const Make& make) {
  std::vector<std::unique_ptr<Handle>> made;
  for (const Item& item : items) made.emplace_back(make(item));
  for (size_t i = 0; i < made.size(); ++i) handles[i] = made[i].release();
}

/// A value of a handle, and `none` where there is no handle.
template <typename Handle, typename Value, typename Get>
Value value_of(const Handle* handle, Value none, const Get& get) noexcept {
  try {
    return handle ? get(*handle) : none;
  } catch (...) {
    return none;
  }
}

/// The block of a result or of detections; null where there is none.
template <typename Found>
const BlockResult* block_of(const Found& found, int block) {
  if (block < 0 || size_t(block) >= found.blocks().size()) return nullptr;
  return &found.blocks()[size_t(block)];
}

// What C is told of a block, which may be null.
const float* ponder_cost_of(const BlockResult* block, int* height, int* width);
const int32_t* units_of(const BlockResult* block);

}  // namespace sact::api
