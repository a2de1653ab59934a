#include "train/loop/start_weights.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "data/class_matching.h"
#include "model/architecture.h"

namespace sact::train {
namespace {

/// The rows of a head that belong to the classes `classes` of `init`, in the order of the network:
/// scores of the classes; in a detector that of the background before them, and four numbers for
/// the box of each class after them.
std::vector<int64_t> head_rows(const ModelSpec& init, const std::vector<int>& classes) {
  std::vector<int64_t> rows;
  const int64_t first = init.detection ? 1 : 0;
  if (init.detection) rows.push_back(0);
  for (const int label : classes) rows.push_back(first + label);
  if (!init.detection) return rows;
  for (const int label : classes) {
    for (int64_t k = 0; k < 4; ++k) rows.push_back(first + init.classes + 4 * label + k);
  }
  return rows;
}

/// What becomes of the head.
struct HeadStart {
  std::vector<int64_t> rows;  // of the file's head; empty: it stays fresh
  std::string said;
};

HeadStart head_start(const ModelSpec& spec, const ModelSpec& init) {
  if (spec.detection.has_value() != init.detection.has_value()) {
    return {{}, init.detection ? "head (that of a detector)" : "head (that of a classifier)"};
  }
  const data::ClassMatch match = data::match_classes(spec.labels, init.labels, init.classes);
  if (!match.problem.empty()) return {{}, fmt::format("head (of the data, {})", match.problem)};
  HeadStart start{head_rows(init, match.classes), ""};
  const bool same =
      spec.classes == init.classes && std::is_sorted(match.classes.begin(), match.classes.end());
  if (!match.order.empty()) {
    start.said =
        fmt::format("its classes have no names and are taken in the order of {}", match.order);
  } else if (!same) {
    start.said = fmt::format("{} of its {} found by name",
                             pluralize(spec.classes, "class", "classes"), init.classes);
  }
  return start;
}

/// What a weight belongs to, where that may be missing on either side: a unit's halting, the
/// proposals, a unit; or nothing.
std::string part_of(const std::string& name) {
  if (is_of_halting(name)) return "halting of " + unit_of(name);
  if (name.starts_with("proposal.")) return "proposals";
  const std::string unit = unit_of(name);
  return unit.empty() ? unit : "unit " + unit;
}

/// "halting of 3 units", "proposals", "2 units", from the names that part_of() gave.
std::string parts_text(const std::set<std::string>& parts) {
  int64_t halting = 0, units = 0;
  std::vector<std::string> texts;
  for (const std::string& part : parts) {
    halting += part.starts_with("halting ");
    units += part.starts_with("unit ");
  }
  if (units > 0) texts.push_back(pluralize(units, "unit"));
  if (halting > 0) texts.push_back("halting of " + pluralize(halting, "unit"));
  if (parts.count("proposals")) texts.emplace_back("proposals");
  return fmt::format("{}", fmt::join(texts, ", "));
}

/// The parts of the file's network that the new one does not have.
std::set<std::string> left_parts(const ModelSpec& spec, const ModelSpec& init) {
  std::set<std::string> wanted, left;
  for (const WeightInfo& weight : weight_list(spec)) wanted.insert(weight.name);
  for (const WeightInfo& weight : weight_list(init)) {
    if (!wanted.count(weight.name)) left.insert(part_of(weight.name));
  }
  left.erase("");
  return left;
}

std::vector<float> chosen_rows(const std::vector<float>& values, const std::vector<int64_t>& rows,
                               int64_t columns) {
  std::vector<float> chosen;
  for (const int64_t row : rows) {
    const auto first = values.begin() + row * columns;
    chosen.insert(chosen.end(), first, first + columns);
  }
  return chosen;
}

WeightInfo stored_head(const WeightInfo& weight, const ModelSpec& init) {
  WeightInfo stored = weight;
  stored.shape[0] = init.outputs();
  return stored;
}

std::string sentence(const std::string& name, const HeadStart& head,
                     const std::set<std::string>& fresh_parts, const std::set<std::string>& left) {
  std::vector<std::string> fresh, texts;
  if (head.rows.empty()) fresh.push_back(head.said);
  if (!fresh_parts.empty()) fresh.push_back(parts_text(fresh_parts));
  if (!head.rows.empty() && !head.said.empty()) texts.push_back(head.said);
  if (!fresh.empty()) texts.push_back(fmt::format("fresh: {}", fmt::join(fresh, ", ")));
  if (!left.empty()) texts.push_back("left out: " + parts_text(left));
  if (texts.empty()) texts.emplace_back("all of it");
  return fmt::format("starts from {}: {}", name, fmt::join(texts, "; "));
}

}  // namespace

std::string start_from(torch::OrderedDict<std::string, torch::Tensor> tensors,
                       const ModelSpec& spec, const ModelFile& init) {
  torch::NoGradGuard no_grad;
  const HeadStart head = head_start(spec, init.spec());
  const std::string head_name = Architecture(spec).head->linear.name + ".";
  std::set<std::string> fresh;
  for (const WeightInfo& weight : weight_list(spec)) {
    const io::TensorView* view = init.find(weight.name);
    const std::string part = part_of(weight.name);
    if (!view && !part.empty() && !part.starts_with("unit ")) {
      fresh.insert(part);
      continue;
    }
    if (!view) {
      fail("{}: has no weights for '{}': it cannot start a network with units {}", init.name(),
           weight.name, fmt::join(spec.units, ","));
    }
    const bool of_head = weight.name.starts_with(head_name);
    if (of_head && head.rows.empty()) continue;
    if (!of_head && view->elements() != weight.elements()) {
      fail("{}: its '{}' has the shape {}, but this network needs {}", init.name(), weight.name,
           io::shape_text(view->shape), io::shape_text(weight.shape));
    }
    const std::vector<float> values =
        of_head ? chosen_rows(init.values(stored_head(weight, init.spec())), head.rows,
                              weight.elements() / weight.shape[0])
                : init.values(weight);
    torch::Tensor& target = tensors[weight.name];
    target.copy_(torch::tensor(values).view(target.sizes()));
  }
  return sentence(init.name(), head, fresh, left_parts(spec, init.spec()));
}

void expect_outside_run(const std::filesystem::path& init, const std::filesystem::path& run) {
  std::error_code error;
  const auto folder = std::filesystem::canonical(init, error).parent_path();
  if (error || !std::filesystem::equivalent(folder, run, error)) return;
  fail(
      "{}: lies in the run folder {}, whose models are overwritten; name another folder, or leave "
      "out init to go on with the run",
      init.string(), run.string());
}

}  // namespace sact::train
