#include "serve/parameters.h"

#include <charconv>
#include <cmath>

#include "base/error.h"
#include "model/halting_request.h"

namespace sact::serve {
namespace {

/// Takes the parameters one by one; what is left at the end is not known.
class Parameters {
 public:
  explicit Parameters(const HttpRequest& request) : left_(request.parameters) {
    left_.erase("model");
  }

  template <typename Number>
  void take(const char* name, Number& value, double least, double most) {
    const auto found = left_.find(name);
    if (found == left_.end()) return;
    const std::string& text = found->second;
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool whole = !std::is_integral_v<Number> || number == std::floor(number);
    if (error != std::errc() || end != text.data() + text.size() || !whole ||
        !(number >= least && number <= most)) {
      fail("parameter {} must be a {}number from {:g} to {:g}, not '{}'", name,
           std::is_integral_v<Number> ? "whole " : "", least, most, printable(text));
    }
    value = Number(number);
    left_.erase(found);
  }

  void take(const char* name, bool& value) {
    int number = 0;
    take(name, number, 0, 1);
    value = number != 0;
  }

  void expect_none() const {
    if (left_.empty()) return;
    fail("there is no parameter '{}'; /openapi.json describes those that there are",
         printable(left_.begin()->first));
  }

 private:
  std::map<std::string, std::string> left_;
};

}  // namespace

Asked asked_of(const HttpRequest& request, const ServedModel& model, int max_side) {
  Parameters parameters(request);
  Asked asked;
  parameters.take("top", asked.top, 1, 1000);
  int size = 0;
  parameters.take("size", size, 32, max_side);
  asked.input.size = asked.saliency.size = size;
  parameters.take("whole", asked.input.whole);
  parameters.take("score", asked.wanted.score, 0, 1);
  parameters.take("most", asked.wanted.most, 1, 1000);
  parameters.take("blur", asked.saliency.blur, 0, 100);
  parameters.take("center_weight", asked.saliency.center_weight, 0, 1000);
  parameters.take("center_sigma", asked.saliency.center_sigma, 0.01, 100);
  parameters.take("maps", asked.maps);
  parameters.take("dense", asked.dense);
  HaltingRequest halting{0, 0, 0, {"halting_shift", "budget", "hard_budget"}};
  parameters.take("halting_shift", halting.shift, -kMostHaltingShift, kMostHaltingShift);
  parameters.take("budget", halting.budget, 0, 100);
  parameters.take("hard_budget", halting.hard_budget, 0, 100);
  parameters.expect_none();
  asked.halting = halting_control(halting, model.spec(), model.file().dial(), model.name());
  return asked;
}

}  // namespace sact::serve
