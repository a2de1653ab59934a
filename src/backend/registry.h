// The back ends that a program has, and which of them does what was asked for.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "base/precision.h"

namespace sact {

/// What messages call the parts of a request: whoever has options for them puts their names here.
struct RequestTerms {
  std::string backend = "back end", device = "device", precision = "type";
};

/// What a back end is wanted for.
struct BackendRequest {
  std::string name = {};  // empty: the first that supports the rest
  std::string device = "cpu";
  Precision precision = Precision::kFloat32;
  bool evaluation = false;         // of a data set
  bool several_processes = false;  // which share it
  bool detector = false;
  RequestTerms terms = {};
};

class BackendRegistry {
 public:
  void add(std::unique_ptr<const Backend> backend) { backends_.push_back(std::move(backend)); }
  /// One that is taken by its name, or for detectors that no other runs there.
  void add_on_request(std::unique_ptr<const Backend> backend) {
    on_request_.push_back(backend->name());
    add(std::move(backend));
  }

  /// The back end that was asked for by name, or the first that was added of those that support the
  /// request. sact::Error says what is not supported, and what would do.
  const Backend& choose(const BackendRequest& request) const;

  /// By name; sact::Error when there is none.
  const Backend& named(const std::string& name) const;
  std::vector<std::string> names() const;

 private:
  /// Why a back end does not do; empty: it does.
  std::string refusal(const Backend& backend, const BackendRequest& request) const;
  /// What would do instead: "; use back end torch, or type fp32".
  std::string advice(const Backend& refused, const BackendRequest& request) const;

  std::vector<std::unique_ptr<const Backend>> backends_;
  std::vector<std::string> on_request_;
};

}  // namespace sact
