#include "serve/parameters.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <type_traits>

#include "base/error.h"
#include "detect/detector.h"

namespace sact::serve {
namespace {

/// `field(asked)` is where the number is kept.
template <typename Field>
Parameter parameter(std::string name, std::vector<Task> tasks, double least, double most,
                    Field field, std::string about) {
  using Number = std::decay_t<decltype(field(std::declval<Asked&>()))>;
  const auto kind = std::is_same_v<Number, bool> ? Parameter::Kind::kFlag
                    : std::is_integral_v<Number> ? Parameter::Kind::kWholeNumber
                                                 : Parameter::Kind::kNumber;
  return {std::move(name),
          std::move(about),
          std::move(tasks),
          kind,
          least,
          most,
          [field](const Asked& asked) { return double(field(const_cast<Asked&>(asked))); },
          [field](Asked& asked, double value) { field(asked) = Number(value); }};
}

double value_of(const Parameter& parameter, const std::string& text) {
  const bool whole = parameter.kind != Parameter::Kind::kNumber;
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() ||
      (whole && number != std::floor(number)) ||
      !(number >= parameter.least && number <= parameter.most)) {
    fail("parameter {} must be a {}number from {:g} to {:g}, not '{}'", parameter.name,
         whole ? "whole " : "", parameter.least, parameter.most, printable(text));
  }
  return number;
}

std::string paths_of(const Parameter& parameter) {
  std::string text;
  for (const Task task : parameter.tasks) text += (text.empty() ? "" : " and ") + path_of(task);
  return text;
}

}  // namespace

const char* name_of(Task task) {
  return task == Task::kClassify ? "classify" : task == Task::kDetect ? "detect" : "saliency";
}

std::string path_of(Task task) {
  return std::string("/v1/") + name_of(task);
}

std::optional<Task> task_at(const std::string& path) {
  for (const Task task : kTasks) {
    if (path == path_of(task)) return task;
  }
  return {};
}

bool Parameter::is_of(Task task) const {
  return std::find(tasks.begin(), tasks.end(), task) != tasks.end();
}

std::optional<double> Parameter::usual() const {
  const double value = get(Asked{});
  return value >= least && value <= most ? std::optional(value) : std::nullopt;
}

std::vector<Parameter> make_parameters(int max_side) {
  const std::vector<Task> classify = {Task::kClassify}, detect = {Task::kDetect},
                          saliency = {Task::kSaliency}, images = {Task::kClassify, Task::kDetect},
                          networks = {Task::kClassify, Task::kSaliency},
                          all = {Task::kClassify, Task::kDetect, Task::kSaliency};
  constexpr double kLeastShare = 0.001, kMostShare = 100;
  std::vector<Parameter> made;
  const auto add = [&](auto... parts) { made.push_back(parameter(parts...)); };
  add(
      "top", classify, 1, 1000, [](Asked& a) -> int& { return a.top; }, "How many classes.");
  add(
      "size", classify, 32, max_side, [](Asked& a) -> int& { return a.input.size; },
      "Side of the square that the network sees; with whole=1 its shorter side.");
  add(
      "size", saliency, 32, max_side, [](Asked& a) -> int& { return a.saliency.size; },
      "The shorter side of what the network sees.");
  add(
      "whole", classify, 0, 1, [](Asked& a) -> bool& { return a.input.whole; },
      "1: the whole image instead of its central crop.");
  add(
      "score", detect, 0, 1, [](Asked& a) -> double& { return a.wanted.score; },
      "Objects of at least this score.");
  add(
      "most", detect, 1, 1000, [](Asked& a) -> int& { return a.wanted.most; }, "The most objects.");
  add(
      "boxes", detect, 1, detect::kMostBoxes, [](Asked& a) -> int& { return a.wanted.boxes; },
      "The most boxes of an image that are looked at; the model's own number by default.");
  add(
      "all_boxes", detect, 0, 1, [](Asked& a) -> bool& { return a.wanted.all_boxes; },
      "1: look also at boxes in which no object of that score is likely.");
  add(
      "blur", saliency, 0, 100, [](Asked& a) -> double& { return a.saliency.blur; },
      "Standard deviation of the Gaussian, in positions.");
  add(
      "center_weight", saliency, 0, 1000,
      [](Asked& a) -> double& { return a.saliency.center_weight; },
      "Of the centred Gaussian that is added.");
  add(
      "center_sigma", saliency, 0.01, 100,
      [](Asked& a) -> double& { return a.saliency.center_sigma; },
      "Its standard deviation, as a share of each side.");
  add(
      "halting_shift", all, -kMostHaltingShift, kMostHaltingShift,
      [](Asked& a) -> double& { return a.request.shift; },
      "Added to halting scores; above 0 less work is done.");
  add(
      "budget", networks, kLeastShare, kMostShare,
      [](Asked& a) -> double& { return a.request.budget; },
      "Share of the dense network's work on average, by the model's curve.");
  add(
      "hard_budget", all, kLeastShare, kMostShare,
      [](Asked& a) -> double& { return a.request.hard_budget; },
      "Share of the dense network's work that no image may exceed.");
  add(
      "maps", images, 0, 1, [](Asked& a) -> bool& { return a.maps; },
      "1: with the ponder cost maps of all blocks.");
  add(
      "dense", images, 0, 1, [](Asked& a) -> bool& { return a.dense; },
      "1: run the network without halting besides, for its time.");
  return made;
}

Asked asked_of(const std::vector<Parameter>& all, Task task, const HttpRequest& request,
               const ServedModel& model) {
  Asked asked;
  asked.task = task;
  for (const auto& [name, text] : request.parameters) {
    if (request.parameters.count(name) > 1) {
      fail("parameter '{}' is given twice", printable(name));
    }
    if (name == "model") continue;
    const auto is_it = [&name = name](const Parameter& one) { return one.name == name; };
    const auto known = std::find_if(all.begin(), all.end(), is_it);
    if (known == all.end()) {
      fail("there is no parameter '{}'; /openapi.json describes those that there are",
           printable(name));
    }
    const auto mine = std::find_if(
        known, all.end(), [&](const Parameter& one) { return is_it(one) && one.is_of(task); });
    if (mine == all.end()) {
      fail("{} has no parameter '{}', which is one of {}", path_of(task), name, paths_of(*known));
    }
    mine->set(asked, value_of(*mine, text));
  }
  asked.halting =
      halting_control(asked.request, model.spec(), model.file().dial(), printable(model.name()));
  return asked;
}

}  // namespace sact::serve
