#include "backend/registry.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "base/error.h"

namespace sact {
namespace {

struct NamedPrecision {
  Precision precision;
  const char* name;
};

constexpr NamedPrecision kPrecisions[] = {
    {Precision::kFloat32, "fp32"},
    {Precision::kBFloat16, "bf16"},
};

bool runs_on(const Backend& backend, const std::string& device) {
  const auto& types = backend.capabilities().types;
  return std::any_of(types.begin(), types.end(),
                     [&](const SupportedType& type) { return type.device == device; });
}

bool supports_type(const Backend& backend, const BackendRequest& request) {
  const auto& types = backend.capabilities().types;
  return std::any_of(types.begin(), types.end(), [&](const SupportedType& type) {
    return type.device == request.device && type.precision == request.precision &&
           (request.evaluation || !type.evaluation_only);
  });
}

/// Where a back end has the requested type at all: "on cuda", "on cuda for evaluations".
std::string places_of_type(const Backend& backend, Precision precision) {
  std::vector<std::string> places;
  for (const SupportedType& type : backend.capabilities().types) {
    if (type.precision != precision) continue;
    places.push_back("on " + type.device + (type.evaluation_only ? " for evaluations" : ""));
  }
  return places.empty() ? "nowhere" : fmt::format("only {}", fmt::join(places, " and "));
}

}  // namespace

const char* precision_name(Precision precision) {
  for (const NamedPrecision& known : kPrecisions) {
    if (known.precision == precision) return known.name;
  }
  SACT_ASSERT(false);
  return "";
}

Precision precision_from_name(const std::string& name) {
  for (const NamedPrecision& known : kPrecisions) {
    if (known.name == name) return known.precision;
  }
  fail("there is no type of operands '{}'; known: {}", printable(name),
       fmt::join(precision_names(), ", "));
}

std::vector<std::string> precision_names() {
  std::vector<std::string> names;
  for (const NamedPrecision& known : kPrecisions) names.emplace_back(known.name);
  return names;
}

std::string BackendRegistry::refusal(const Backend& backend, const BackendRequest& request) const {
  const Capabilities& capabilities = backend.capabilities();
  if (!runs_on(backend, request.device)) {
    return fmt::format("--device {}: the back end '{}' does not run there", request.device,
                       backend.name());
  }
  if (!supports_type(backend, request)) {
    return fmt::format("--dtype {}: the back end '{}' has it {}", precision_name(request.precision),
                       backend.name(), places_of_type(backend, request.precision));
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
  std::vector<std::string> ways;
  // Whoever was named is asked alone, otherwise all are.
  const auto works = [&](const BackendRequest& changed) {
    if (!request.name.empty()) return refusal(refused, changed).empty();
    return std::any_of(backends_.begin(), backends_.end(),
                       [&](const auto& backend) { return refusal(*backend, changed).empty(); });
  };
  for (const auto& other : backends_) {
    if (refusal(*other, request).empty()) ways.push_back("use --backend " + other->name());
  }
  BackendRequest changed = request;
  changed.device = "cpu";
  if (request.device != "cpu" && works(changed)) ways.emplace_back("leave out --device");
  changed = request;
  changed.precision = Precision::kFloat32;
  if (request.precision != Precision::kFloat32 && works(changed)) {
    ways.emplace_back("leave out --dtype");
  }
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
    for (const auto& backend : backends_) {
      if (refusal(*backend, request).empty()) return *backend;
    }
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
