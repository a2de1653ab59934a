#include "app/import.h"

#include <algorithm>

#include "app/outputs.h"
#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "data/fields.h"
#include "model/flops.h"
#include "model/weights.h"

namespace sact::app {

ImportReport run_import(const ImportRequest& request) {
  const std::string& labels = request.options.labels;
  const std::vector<Output> written = {{"--out", request.out}};
  protect_inputs({request.source, labels == "none" || labels == "imagenet" ? "" : labels}, written);
  check_writable(request.out);  // before the work, not after it
  ImportReport report;
  report.request = request;
  report.network = importing::import_network(request.source, request.options);
  protect_inputs(report.network.files, written);
  const ModelSpec& spec = report.network.spec;
  write_model(request.out, spec, report.network.weights, request.dtype);
  report.network.weights.clear();
  report.parameters = parameter_count(spec);
  report.flops = dense_flops(spec, {spec.input.size, spec.input.size});
  report.bytes = std::filesystem::file_size(request.out);
  return report;
}

io::Json ImportReport::json() const {
  io::Json found = io::Json::array();
  for (const importing::Finding& finding : network.findings) {
    found.push_back({{"what", finding.what}, {"value", finding.value}, {"from", finding.from}});
  }
  return {{"source", request.source.string()},
          {"format", network.format},
          {"library", network.library},
          {"out", request.out.string()},
          {"dtype", io::dtype_name(request.dtype)},
          {"bytes", bytes},
          {"parameters", parameters},
          {"height", network.spec.input.size},
          {"width", network.spec.input.size},
          {"flops", flops},
          {"found", found},
          {"notes", network.notes},
          {"ignored", network.ignored},
          {"spec", io::Json::parse(to_json(network.spec))}};
}

std::vector<std::string> ImportReport::lines() const {
  std::vector<std::string> lines = {
      fmt::format("{}: {}, {}", request.source.string(), network.library, network.format)};
  size_t widest = 0;
  for (const auto& finding : network.findings) widest = std::max(widest, finding.what.size());
  for (const auto& finding : network.findings) {
    lines.push_back(
        fmt::format("  {:<{}}  {} ({})", finding.what, widest, finding.value, finding.from));
  }
  for (const std::string& note : network.notes) lines.push_back("  " + note);
  if (!network.ignored.empty()) {
    lines.push_back(fmt::format("  not used: {} ({})", data::listed(network.ignored, 3),
                                network.ignored.size()));
  }
  const int side = network.spec.input.size;
  lines.push_back(fmt::format("wrote {}: {} parameters, {} at {}x{}, weights in {}, {}",
                              request.out.string(), format_grouped(parameters),
                              format_flops(double(flops)), side, side,
                              io::dtype_name(request.dtype), format_bytes(bytes)));
  return lines;
}

}  // namespace sact::app
