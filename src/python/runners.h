// Models as Python calls them. Sessions serve one thread at a time, so a model has as many as
// threads have called it at once.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "python/images.h"

namespace sact::python {

/// Sessions that wait for their next call.
template <typename Runner>
class Pool {
 public:
  Pool(const Model& model, const SessionOptions& options) : model_(model), options_(options) {
    give_back(take());  // so that wrong options are told of when a model is loaded
  }

  /// Calls use(runner) with one that nobody else uses.
  template <typename Use>
  auto with(const Use& use) {
    Lent lent{*this, take()};
    return use(*lent.runner);
  }

  const Model& model() const { return model_; }
  int batch() const { return options_.batch; }

 private:
  struct Lent {
    ~Lent() { pool.give_back(std::move(runner)); }
    Pool& pool;
    std::unique_ptr<Runner> runner;
  };

  std::unique_ptr<Runner> take() {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        auto runner = std::move(idle_.back());
        idle_.pop_back();
        return runner;
      }
    }
    return std::make_unique<Runner>(model_, options_);
  }
  void give_back(std::unique_ptr<Runner> runner) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(runner));
  }

  Model model_;
  SessionOptions options_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Runner>> idle_;
};

/// Keyword arguments that all calls have.
struct CallOptions {
  int size = 0;
  bool whole = false;
  std::optional<double> budget, hard_budget, halting_shift;
  py::object progress, cancelled;  // functions, or None

  /// Callbacks take the interpreter's lock. `cancelled` also looks for signals such as Ctrl-C.
  RunOptions options() const;
};

void declare_results(py::module_& module);
void declare_models(py::module_& module);

/// A map as an array [height, width], and its units as one of the same shape.
py::array_t<float> array_of(const Map& map);
py::array_t<int32_t> units_of(const BlockResult& block);

}  // namespace sact::python
