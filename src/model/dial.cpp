#include "model/dial.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace sact {
namespace {

using io::Json;

/// Reads keys of a dial, with errors that name them.
class Reader {
 public:
  Reader(const Json& json, const std::string& name) : json_(json), name_(name) {
    if (!json.is_object()) refuse("it must be a JSON object");
  }

  [[noreturn]] void refuse(const std::string& why) const {
    fail("{}: {}; 'sact calibrate' measures it anew", name_, why);
  }
  const Json* find(const char* key) const {
    const auto found = json_.find(key);
    return found == json_.end() ? nullptr : &*found;
  }
  const Json& at(const char* key) const {
    const Json* found = find(key);
    if (!found) refuse(fmt::format("it has no '{}'", key));
    return *found;
  }
  double number(const Json& value, const char* key, double low, double high) const {
    if (!value.is_number() || !(value.get<double>() >= low && value.get<double>() <= high)) {
      refuse(fmt::format("'{}' must be a number from {} to {}, found {}", key, low, high,
                         printable(io::dump_json(value), 40)));
    }
    return value.get<double>();
  }
  double number(const char* key, double low, double high) const {
    return number(at(key), key, low, high);
  }
  std::optional<double> share(const char* key) const {
    const Json* found = find(key);
    if (!found) return std::nullopt;
    return number(*found, key, 0, 1);
  }
  const Json& list(const char* key) const {
    const Json& value = at(key);
    if (!value.is_array()) refuse(fmt::format("'{}' must be an array", key));
    return value;
  }

 private:
  const Json& json_;
  std::string name_;
};

constexpr double kMostShare = 100;

DialPoint point_from_json(const Json& json, const std::string& name) {
  const Reader reader(json, name);
  DialPoint point;
  point.shift = reader.number("shift", -kMostHaltingShift, kMostHaltingShift);
  const Reader share(reader.at("flops_share"), name);
  point.flops_share = {share.number("mean", 0, kMostShare), share.number("std", 0, kMostShare)};
  for (const Json& units : reader.list("units")) {
    point.units.push_back(reader.number(units, "units", 0, 1000));
  }
  point.agreement = reader.number("agreement", 0, 1);
  point.dense_agreement = reader.share("dense_agreement");
  point.accuracy = reader.share("accuracy");
  return point;
}

}  // namespace

std::string Dial::range() const {
  return fmt::format("{:.3f} to {:.3f}", std::ceil(least_share() * 1000) / 1000,
                     std::floor(largest_share() * 1000) / 1000);
}

double Dial::shift_for(double share) const {
  SACT_ASSERT(share >= least_share() && share <= largest_share());
  // The first point that takes no more; of equal shares that with the least shift.
  const auto next = std::find_if(points.begin(), points.end(), [&](const DialPoint& point) {
    return point.flops_share.mean <= share;
  });
  if (next == points.begin()) return next->shift;
  const DialPoint& before = *(next - 1);
  const double range = before.flops_share.mean - next->flops_share.mean;
  return before.shift + (before.flops_share.mean - share) / range * (next->shift - before.shift);
}

bool make_monotone(std::vector<DialPoint>& points) {
  /// Neighbours that have got one share.
  struct Pool {
    double sum;
    size_t count;
    double mean() const { return sum / double(count); }
  };
  std::vector<Pool> pools;
  for (const DialPoint& point : points) {
    pools.push_back({point.flops_share.mean, 1});
    while (pools.size() > 1 && pools[pools.size() - 2].mean() < pools.back().mean()) {
      const Pool last = pools.back();
      pools.pop_back();
      pools.back().sum += last.sum;
      pools.back().count += last.count;
    }
  }
  const bool corrected = pools.size() < points.size();
  size_t at = 0;
  for (const Pool& pool : pools) {
    for (size_t i = 0; i < pool.count; ++i, ++at) {
      if (pool.count > 1) points[at].flops_share.mean = pool.mean();
    }
  }
  return corrected;
}

Json to_json(const DialPoint& point) {
  Json json = {{"shift", point.shift},
               {"flops_share", to_json(point.flops_share)},
               {"units", point.units},
               {"agreement", point.agreement}};
  if (point.dense_agreement) json["dense_agreement"] = *point.dense_agreement;
  if (point.accuracy) json["accuracy"] = *point.accuracy;
  return json;
}

Json to_json(const Dial& dial) {
  Json points = Json::array();
  for (const DialPoint& point : dial.points) points.push_back(to_json(point));
  return {{"height", dial.size.height},
          {"width", dial.size.width},
          {"images", dial.images},
          {"points", points}};
}

Dial dial_from_json(std::string_view text, const std::string& name) {
  constexpr size_t kMostPoints = 10'000;
  const Json json = io::parse_json(text, name);
  const Reader reader(json, name);
  Dial dial;
  dial.size = {int(reader.number("height", 1, kMaxImageSide)),
               int(reader.number("width", 1, kMaxImageSide))};
  dial.images = int64_t(reader.number("images", 1, 1e15));
  const Json& points = reader.list("points");
  if (points.empty() || points.size() > kMostPoints) {
    reader.refuse(fmt::format("'points' must have from 1 to {} of them", kMostPoints));
  }
  for (const Json& point : points) {
    dial.points.push_back(point_from_json(point, name));
    if (dial.points.size() < 2) continue;
    const DialPoint &before = *(dial.points.end() - 2), &last = dial.points.back();
    if (last.shift <= before.shift || last.flops_share.mean > before.flops_share.mean) {
      reader.refuse("shifts of 'points' must rise, and shares of FLOPs must not");
    }
  }
  return dial;
}

}  // namespace sact
