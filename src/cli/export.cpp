// sact export: the same network with its weights stored in another precision.
#include <memory>

#include "base/log.h"
#include "base/text.h"
#include "cli/command.h"
#include "model/model_file.h"

namespace sact::cli {
namespace {

struct ExportOptions {
  CommonOptions common;
  std::string model, out, dtype = "f16";
};

int run(const ExportOptions& options) {
  const ModelFile model(options.model);
  for (const std::string& remark : model.remarks()) log_warning("{}", remark);
  write_model(options.out, model.spec(), read_weights(model, model.spec()),
              storage_dtype(options.dtype));
  const uint64_t before = std::filesystem::file_size(options.model);
  const uint64_t after = std::filesystem::file_size(options.out);
  if (options.common.json) {
    print_json({{"path", options.out}, {"dtype", options.dtype}, {"bytes", after}});
  } else {
    print(fmt::format("wrote {} with weights in {}: {} instead of {}", options.out, options.dtype,
                      format_bytes(after), format_bytes(before)));
  }
  return 0;
}

}  // namespace

void declare_export(CLI::App& app, Action& action) {
  auto options = std::make_shared<ExportOptions>();
  CLI::App* command = app.add_subcommand("export", "Store a model's weights in another precision");
  command->add_option("model", options->model, "Model file")->required()->type_name("MODEL");
  command->add_option("--out", options->out, "Model file to write")->required()->type_name("FILE");
  command->add_option("--dtype", options->dtype, "Storage of large weights: f32, f16 or bf16")
      ->check(CLI::IsMember({"f32", "f16", "bf16"}))
      ->capture_default_str();
  add_common_options(*command, options->common);
  set_examples(*command,
               "  sact export runs/sact/best.safetensors --dtype f16 --out small.safetensors");
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace sact::cli
