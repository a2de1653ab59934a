#include "train/loop/checkpoint_file.h"

#include "base/error.h"

namespace sact::train {
namespace {

using io::Json;

constexpr const char* kKey = "sact_checkpoint";
// Of files with a checksum, and of those of early versions: so that one without, where there should
// be one, is seen.
constexpr const char *kComplete = "complete with checksum", *kCompleteEarly = "complete";
constexpr int64_t kMostWorkers = 65536;

Json checkpoint_json(const io::SafetensorsFile& file) {
  const std::optional<bool> sum = file.checksum_holds();
  if (sum == false) fail("{}: is damaged: its checksum is that of other bytes", file.name());
  const auto found = file.metadata().find(kKey);
  if (found == file.metadata().end())
    fail("{}: is not a checkpoint of a training run", file.name());
  Json json = io::parse_json(found->second, file.name());
  const auto mark = json.is_object() ? json.find("mark") : json.end();
  if (mark == json.end() || *mark != (sum ? kComplete : kCompleteEarly)) {
    fail("{}: is not a complete checkpoint", file.name());
  }
  return json;
}

/// A count in a record of progress. None that a run can reach comes near the usual limit.
int64_t count_in(const Json& record, const char* key, const std::string& name,
                 int64_t most = 1'000'000'000'000'000) {
  const Json& value = record.at(key);
  if (!value.is_number_integer() || value < 0 || value > most) {
    fail("{}: its record of progress is damaged: '{}' is {}", name, key,
         printable(io::dump_json(value), 40));
  }
  return value;
}

}  // namespace

Progression Progression::next_epoch() const {
  Progression next;
  next.epoch = epoch;
  next.step = step;
  next.best_score = best_score;
  next.workers = workers;
  return next;
}

std::string to_json(const Progression& p) {
  const bool has_sums = !p.sums.empty();
  return io::dump_json({{"epoch", p.epoch},
                        {"position", p.position},
                        {"step", p.step},
                        {"best_accuracy", p.best_score},
                        {"workers", p.workers},
                        {"loss_sum", has_sums ? p.sums.front() : 0.0},
                        {"losses", std::vector<double>(p.sums.begin() + has_sums, p.sums.end())},
                        {"images", p.images},
                        {"seconds", p.seconds},
                        {"most_units", p.maxima}});
}

Progression progression_from_json(const std::string& json, const std::string& name) {
  try {
    const Json p = Json::parse(json);
    Progression progression;
    progression.epoch = count_in(p, "epoch", name);
    progression.position = count_in(p, "position", name);
    progression.step = count_in(p, "step", name);
    progression.best_score = p.at("best_accuracy");
    if (p.contains("workers"))
      progression.workers = int(count_in(p, "workers", name, kMostWorkers));
    progression.images = p.at("images");
    progression.seconds = p.at("seconds");
    progression.maxima = p.at("most_units").get<std::vector<double>>();
    progression.sums = {p.at("loss_sum").get<double>()};
    std::vector<double> others = p.value("losses", std::vector<double>());
    if (others.empty() && p.contains("entropy_sum")) {  // a classifier of an early version
      others = {p.at("entropy_sum"), p.value("ponder_sum", 0.0), p.at("correct")};
    }
    progression.sums.insert(progression.sums.end(), others.begin(), others.end());
    return progression;
  } catch (const Json::exception&) {
    fail("{}: its record of progress is damaged", name);
  }
}

void write_checkpoint(const std::filesystem::path& path, std::span<const io::NamedTensor> tensors,
                      const Progression& progression, const RunIdentity& run) {
  const Json json = {{"command", run.command},
                     {"settings", Json::parse(run.settings_json)},
                     {"spec", Json::parse(sact::to_json(run.spec))},
                     {"progression", Json::parse(to_json(progression))},
                     {"mark", kComplete}};
  io::write_summed_safetensors(path, previous_checkpoint(path), tensors,
                               {{kKey, io::dump_json(json)}});
}

std::filesystem::path previous_checkpoint(const std::filesystem::path& path) {
  return path.parent_path() / (path.stem().string() + "-previous" + path.extension().string());
}

Checkpoint::Checkpoint(const std::filesystem::path& path)
    : file_(path), json_(checkpoint_json(file_)), progression_(read_progression()) {}

std::string Checkpoint::settings_json() const {
  const auto found = json_.find("settings");
  if (found == json_.end()) fail("{}: has no settings", file_.name());
  return io::dump_json(*found);
}

std::string Checkpoint::command() const {
  const auto found = json_.find("command");
  if (found != json_.end()) return found->is_string() ? found->get<std::string>() : "";
  const auto spec = this->spec();  // files of early versions are those of two commands
  if (!spec) return "";
  return spec->detection ? "sact train-detector" : "sact train";
}

std::optional<ModelSpec> Checkpoint::spec() const {
  const auto found = json_.find("spec");
  if (found == json_.end()) return std::nullopt;
  return spec_from_json(io::dump_json(*found), file_.name() + ": its spec");
}

Progression Checkpoint::read_progression() const {
  const auto found = json_.find("progression");
  const Progression read =
      progression_from_json(found == json_.end() ? "" : found->dump(), file_.name());
  const auto settings = json_.find("settings");
  if (settings == json_.end() || !settings->is_object()) return read;
  const auto epochs = settings->find("epochs");
  if (epochs != settings->end() && epochs->is_number() && read.epoch > epochs->get<double>()) {
    fail("{}: its record of progress is damaged: {} epochs are done of {}", file_.name(),
         read.epoch, io::dump_json(*epochs));
  }
  return read;
}

std::vector<float> Checkpoint::values(const std::string& tensor, const io::Shape& shape) const {
  const io::TensorView* view = file_.find(tensor);
  if (!view || view->shape != shape) {
    fail("{}: does not fit this network: tensor '{}' of shape {} is {}", file_.name(), tensor,
         io::shape_text(shape), view ? "there as " + io::shape_text(view->shape) : "missing");
  }
  return io::float_values(*view, tensor);
}

}  // namespace sact::train
