#include "backend/registry.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "base/error.h"

namespace sact {
namespace {

bool runs_on(const Backend& backend, const std::string& device) {
  const auto& types = backend.capabilities().types;
  return std::any_of(types.begin(), types.end(),
                     [&](const SupportedType& type) { return type.device == device; });
}

/// The requested type on the requested device; null: the back end has it not.
const SupportedType* type_of(const Backend& backend, const BackendRequest& request) {
  const auto& types = backend.capabilities().types;
  const auto found = std::find_if(types.begin(), types.end(), [&](const SupportedType& type) {
    return type.device == request.device && type.precision == request.precision;
  });
  return found == types.end() ? nullptr : &*found;
}

}  // namespace

std::string BackendRegistry::refusal(const Backend& backend, const BackendRequest& request) const {
  const Capabilities& capabilities = backend.capabilities();
  const std::string precision = precision_name(request.precision);
  if (capabilities.types.empty()) {
    return fmt::format("the back end '{}' is not part of this build", backend.name());
  }
  if (!runs_on(backend, request.device)) {
    return fmt::format("{} {}: the back end '{}' does not run there", request.terms.device,
                       request.device, backend.name());
  }
  const SupportedType* type = type_of(backend, request);
  if (!type) {
    return fmt::format("{} {}: the back end '{}' does not have it on {}", request.terms.precision,
                       precision, backend.name(), request.device);
  }
  if (type->evaluation_only && !request.evaluation) {
    return fmt::format("{} on {} is for evaluations only", precision, request.device);
  }
  if (request.several_processes && !capabilities.shares_processes) {
    return fmt::format("the back end '{}' does not share work with other processes",
                       backend.name());
  }
  if (request.detector && !capabilities.detectors) {
    return fmt::format("the back end '{}' does not run detectors", backend.name());
  }
  return {};
}

std::string BackendRegistry::advice(const Backend& refused, const BackendRequest& request) const {
  const RequestTerms& terms = request.terms;
  // Whoever was named is asked alone, otherwise all are.
  const auto works = [&](const BackendRequest& changed) {
    if (!request.name.empty()) return refusal(refused, changed).empty();
    return std::any_of(backends_.begin(), backends_.end(),
                       [&](const auto& backend) { return refusal(*backend, changed).empty(); });
  };
  std::vector<std::string> usable;
  for (const auto& other : backends_) {
    if (refusal(*other, request).empty()) usable.push_back(terms.backend + " " + other->name());
  }
  BackendRequest changed = request;
  changed.device = "cpu";
  if (request.device != "cpu" && works(changed)) usable.push_back(terms.device + " cpu");
  changed = request;
  changed.precision = Precision::kFloat32;
  if (request.precision != Precision::kFloat32 && works(changed)) {
    usable.push_back(terms.precision + " " + precision_name(changed.precision));
  }
  std::vector<std::string> ways;
  if (!usable.empty()) ways.push_back(fmt::format("use {}", fmt::join(usable, ", or ")));
  changed = request;
  changed.several_processes = false;
  if (request.several_processes && works(changed)) {
    ways.emplace_back("start one process without WORLD_SIZE");
  }
  return ways.empty() ? "" : fmt::format("; {}", fmt::join(ways, ", or "));
}

const Backend& BackendRegistry::choose(const BackendRequest& request) const {
  SACT_ASSERT(!backends_.empty());
  const Backend* asked = request.name.empty() ? nullptr : &named(request.name);
  if (!asked) {
    const Backend* spare = nullptr;
    for (const auto& backend : backends_) {
      if (!refusal(*backend, request).empty()) continue;
      const bool on_request =
          std::find(on_request_.begin(), on_request_.end(), backend->name()) != on_request_.end();
      if (!on_request) return *backend;
      if (!spare && request.detector) spare = backend.get();
    }
    if (spare) return *spare;
    // The one to tell of is the first that has the device.
    const auto near = std::find_if(backends_.begin(), backends_.end(), [&](const auto& backend) {
      return runs_on(*backend, request.device);
    });
    asked = near == backends_.end() ? backends_.front().get() : near->get();
  }
  const std::string why_not = refusal(*asked, request);
  if (!why_not.empty()) fail("{}{}", why_not, advice(*asked, request));
  return *asked;
}

const Backend& BackendRegistry::named(const std::string& name) const {
  for (const auto& backend : backends_) {
    if (backend->name() == name) return *backend;
  }
  fail("there is no back end '{}'; known: {}", printable(name), fmt::join(names(), ", "));
}

std::vector<std::string> BackendRegistry::names() const {
  std::vector<std::string> names;
  for (const auto& backend : backends_) names.push_back(backend->name());
  return names;
}

}  // namespace sact
