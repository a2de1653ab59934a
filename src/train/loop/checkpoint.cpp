#include "train/loop/checkpoint.h"

#include <cstring>

#include "base/error.h"

namespace sact::train {
namespace {

using io::Json;

constexpr const char* kKey = "sact_checkpoint";
// Of files with a checksum, and of those of early versions: so that one without, where there should
// be one, is seen.
constexpr const char *kComplete = "complete with checksum", *kCompleteEarly = "complete";

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

/// A count in a record of progress. None that a run can reach comes near the limit.
int64_t count_in(const Json& record, const char* key, const std::string& name) {
  constexpr int64_t kMost = 1'000'000'000'000'000;
  const Json& value = record.at(key);
  if (!value.is_number_integer() || value < 0 || value > kMost) {
    fail("{}: its record of progress is damaged: '{}' is {}", name, key,
         printable(io::dump_json(value), 40));
  }
  return value;
}

}  // namespace

std::vector<std::pair<std::string, torch::Tensor>> run_tensors(const torch::nn::Module& network,
                                                               const Sgd& sgd) {
  std::vector<std::pair<std::string, torch::Tensor>> tensors;
  for (auto& item : network.named_parameters())
    tensors.emplace_back("model/" + item.key(), item.value());
  for (auto& item : network.named_buffers()) {
    if (item.value().is_floating_point()) tensors.emplace_back("model/" + item.key(), item.value());
  }
  for (auto& item : sgd.state()) tensors.emplace_back("momentum/" + item.key(), item.value());
  return tensors;
}

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
    progression.workers = p.contains("workers") ? int(count_in(p, "workers", name)) : 1;
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

void save_checkpoint(const std::filesystem::path& path, const torch::nn::Module& network,
                     const Sgd& sgd, const Progression& progression, const RunIdentity& run) {
  std::vector<torch::Tensor> kept;
  std::vector<io::NamedTensor> tensors;
  for (const auto& [name, tensor] : run_tensors(network, sgd)) {
    kept.push_back(tensor.detach().to(torch::kCPU, torch::kFloat32).contiguous());
    const torch::Tensor& host = kept.back();
    tensors.push_back({name,
                       {io::Dtype::kF32, host.sizes().vec(),
                        std::as_bytes(std::span(host.data_ptr<float>(), size_t(host.numel())))}});
  }
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

void Checkpoint::load(const torch::nn::Module& network, Sgd& sgd) const {
  torch::NoGradGuard no_grad;
  for (auto& [name, tensor] : run_tensors(network, sgd)) {
    const io::TensorView* view = file_.find(name);
    if (!view || view->shape != tensor.sizes().vec()) {
      fail("{}: does not fit this network: tensor '{}' of shape {} is {}", file_.name(), name,
           io::shape_text(tensor.sizes().vec()),
           view ? "there as " + io::shape_text(view->shape) : "missing");
    }
    const std::vector<float> values = io::float_values(*view, name);
    torch::Tensor host = torch::empty(tensor.sizes(), torch::kFloat32);
    std::memcpy(host.data_ptr<float>(), values.data(), values.size() * sizeof(float));
    tensor.copy_(host);
  }
}

}  // namespace sact::train
