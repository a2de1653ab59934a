#include "train/loop/given_settings.h"

#include "base/file.h"
#include "base/log.h"
#include "train/loop/run_directory.h"

namespace sact::train {

void give_settings(RunSettings& settings, const TrainRequest& request) {
  if (!request.config.empty()) {
    const auto bytes = read_file(request.config, 1 << 20);
    settings.set_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, request.config);
  }
  for (const std::string& assignment : request.assignments) settings.set_text(assignment);
}

void resume_settings(Task& task, const TrainRequest& request, ProcessGroup& group) {
  RunSettings& settings = task.settings();
  std::string stored;
  if (group.first()) {
    read_stored_settings(request.run, settings.command(),
                         [&](const std::string& json, const std::string& name) {
                           settings.changes_since(json, name);  // throws when they are damaged
                           stored = json;
                         });
  }
  stored = group.broadcast(stored);
  if (stored.empty()) return;
  settings.replace(stored, "the settings of worker 0");
  const int64_t before = task.loop_settings().epochs;
  give_settings(settings, request);
  const int64_t epochs = task.loop_settings().epochs;
  if (epochs > before && group.first()) {
    log_info("epochs: {} -> {}; from here on the rate is that of a run of {} epochs", before,
             epochs, epochs);
  }
}

}  // namespace sact::train
