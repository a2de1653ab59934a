// What a request may ask: one table, from which requests are read and the API is described.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "model/halting_request.h"
#include "sact/detector.h"
#include "sact/options.h"
#include "serve/http.h"
#include "serve/models.h"

namespace sact::serve {

/// What is done with images; each has an address.
enum class Task { kClassify, kDetect, kSaliency };
inline constexpr Task kTasks[] = {Task::kClassify, Task::kDetect, Task::kSaliency};
/// "classify"
const char* name_of(Task task);
/// "/v1/classify"
std::string path_of(Task task);
/// None: there is no such address.
std::optional<Task> task_at(const std::string& path);

/// What a request asks of a model.
struct Asked {
  Task task = Task::kClassify;
  int top = 5;
  InputOptions input;
  DetectOptions wanted;
  SaliencyOptions saliency;
  HaltingRequest request = {0, 0, 0, {"halting_shift", "budget", "hard_budget"}};
  HaltingControl halting;  // that does what was requested
  bool maps = false;       // of all blocks
  bool dense = false;      // the same without halting besides
};

/// A number that a request may have; those without an effect in its task are mistakes.
struct Parameter {
  enum class Kind { kNumber, kWholeNumber, kFlag };

  std::string name, about;
  std::vector<Task> tasks;
  Kind kind = Kind::kNumber;
  double least = 0, most = 0;
  std::function<double(const Asked&)> get;
  std::function<void(Asked&, double)> set;

  bool is_of(Task task) const;
  /// What counts where a request does not say; none where that is no number.
  std::optional<double> usual() const;
};

/// All but `model`. Networks are asked to see squares of at most `max_side`.
std::vector<Parameter> make_parameters(int max_side);

/// What a request asks. sact::Error, naming the parameter, for one that is unknown, is of another
/// task, comes twice or makes no sense.
Asked asked_of(const std::vector<Parameter>& all, Task task, const HttpRequest& request,
               const ServedModel& model);

}  // namespace sact::serve
