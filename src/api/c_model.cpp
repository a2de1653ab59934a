#include "api/c_handles.h"

namespace sact::api {

void set_text(sact_error* error, const char* text) {
  if (!error) return;
  const size_t length = std::min(std::strlen(text), sizeof error->text - 1);
  std::memcpy(error->text, text, length);
  error->text[length] = '\0';
}

namespace {

Work work_of(const sact_work& work) {
  return {work.halting_shift, work.budget, work.hard_budget};
}

/// 0 stands for the usual value, and less than 0 for nothing.
double or_usual(double value, double usual) {
  return value == 0 ? usual : std::max(value, 0.0);
}

ModelOptions options_of(const sact_model_options* options) {
  ModelOptions all;
  if (!options) return all;
  switch (options->precision) {
    case SACT_OWN_PRECISION:
      break;
    case SACT_FLOAT32:
      all.precision = Precision::kFloat32;
      break;
    case SACT_BFLOAT16:
      all.precision = Precision::kBFloat16;
      break;
    case SACT_INT8:
      all.precision = Precision::kInt8;
      break;
    case SACT_FLOAT16:
      all.precision = Precision::kFloat16;
      break;
    default:
      throw Error("there is no such precision: " + std::to_string(options->precision));
  }
  all.exact = options->exact != 0;
  if (options->isa) all.isa = options->isa;
  if (options->device) all.device = options->device;
  return all;
}

int64_t max_pixels_of(const sact_image_options* options) {
  return options && options->max_pixels != 0 ? options->max_pixels : Image::kMaxPixels;
}

}  // namespace

SessionOptions options_of(const sact_session_options* options) {
  SessionOptions all;
  if (!options) return all;
  all.threads = options->threads;
  if (options->batch != 0) all.batch = options->batch;
  all.work = work_of(options->work);
  return all;
}

InputOptions options_of(const sact_input_options* options) {
  if (!options) return {};
  return {options->size, options->whole != 0};
}

RunOptions options_of(const sact_run_options* options) {
  RunOptions all;
  if (!options) return all;
  all.input = options_of(&options->input);
  if (options->work) all.work = work_of(*options->work);
  void* user = options->user;
  if (auto* cancelled = options->cancelled) {
    all.cancelled = [=] { return cancelled(user) != 0; };
  }
  if (auto* progress = options->progress) {
    all.progress = [=](int done, int total) { progress(user, done, total); };
  }
  return all;
}

SaliencyOptions options_of(const sact_saliency_options* options) {
  SaliencyOptions all;
  if (!options) return all;
  all.size = options->size;
  all.blur = or_usual(options->blur, all.blur);
  all.center_weight = or_usual(options->center_weight, all.center_weight);
  if (options->center_sigma != 0) all.center_sigma = options->center_sigma;
  return all;
}

std::vector<ImageView> views_of(const sact_image_view* images, int count) {
  if (count < 0) throw Error("the number of images is below 0");
  if (count > 0) given(images, "images");
  std::vector<ImageView> views;
  for (int i = 0; i < count; ++i) {
    const sact_image_view& image = images[i];
    views.push_back(
        {image.data, image.width, image.height, image.stride, PixelOrder(int(image.order))});
  }
  return views;
}

const float* ponder_cost_of(const BlockResult* block, int* height, int* width) {
  if (!block) return nullptr;
  if (height) *height = block->ponder_cost.height;
  if (width) *width = block->ponder_cost.width;
  return block->ponder_cost.values.data();
}

const int32_t* units_of(const BlockResult* block) {
  return block ? block->units.data() : nullptr;
}

}  // namespace sact::api

using namespace sact::api;

static_assert(SACT_ABI_VERSION == SACT_ABI, "sact/c.h and CMakeLists.txt have different versions");

int sact_abi_version(void) {
  return SACT_ABI_VERSION;
}

const char* sact_version(void) {
  return SACT_VERSION;
}

sact_image* sact_image_load(const char* path, const sact_image_options* options,
                            sact_error* error) {
  return handle_of(error, [&] {
    return new sact_image{sact::Image::load(&given(path, "path"), max_pixels_of(options))};
  });
}

sact_image* sact_image_decode(const void* bytes, size_t size, const sact_image_options* options,
                              sact_error* error) {
  return handle_of(error, [&] {
    given(static_cast<const char*>(bytes), "bytes");
    const char* name = options && options->name ? options->name : "image";
    return new sact_image{sact::Image::decode(bytes, size, name, max_pixels_of(options))};
  });
}

void sact_image_free(sact_image* image) {
  delete image;
}

sact_image_view sact_image_pixels(const sact_image* image) {
  if (!image) return {nullptr, 0, 0, 0, SACT_RGB};
  const sact::ImageView view = image->image.view();
  return {view.data, view.width, view.height, view.stride, SACT_RGB};
}

const char* sact_device(int index) {
  try {
    static const std::vector<std::string> devices = sact::Model::devices();
    return index >= 0 && size_t(index) < devices.size() ? devices[size_t(index)].c_str() : nullptr;
  } catch (...) {
    return nullptr;
  }
}

sact_model* sact_model_load(const char* path, const sact_model_options* options,
                            sact_error* error) {
  return handle_of(error, [&] {
    const sact::Model model = sact::Model::load(&given(path, "path"), options_of(options));
    std::vector<std::string> labels;
    for (int i = 0; i < model.classes(); ++i) labels.push_back(model.label(i));
    return new sact_model{model, std::move(labels)};
  });
}

void sact_model_free(sact_model* model) {
  delete model;
}

int sact_model_detects(const sact_model* model) {
  return model && model->model.detects();
}

int sact_model_classes(const sact_model* model) {
  return model ? model->model.classes() : 0;
}

const char* sact_model_label(const sact_model* model, int index) {
  if (!model || index < 0 || index >= model->model.classes()) return nullptr;
  return model->labels[size_t(index)].c_str();
}

int sact_model_input_size(const sact_model* model) {
  return model ? model->model.input_size() : 0;
}

sact_halting sact_model_halting(const sact_model* model) {
  switch (model ? model->model.halting() : sact::Halting::kNone) {
    case sact::Halting::kAct:
      return SACT_ACT;
    case sact::Halting::kSact:
      return SACT_SACT;
    default:
      return SACT_NO_HALTING;
  }
}

int sact_model_blocks(const sact_model* model) {
  return model ? int(model->model.units().size()) : 0;
}

int sact_model_units(const sact_model* model, int block) {
  if (!model || block < 0 || block >= sact_model_blocks(model)) return 0;
  return model->model.units()[size_t(block)];
}

int64_t sact_model_parameters(const sact_model* model) {
  return value_of(model, int64_t(0), [](auto& own) { return own.model.parameters(); });
}

int64_t sact_model_dense_flops(const sact_model* model, int height, int width) {
  return value_of(model, int64_t(-1),
                  [&](auto& own) { return own.model.dense_flops(height, width); });
}

int sact_model_budgets(const sact_model* model, double* least, double* largest) {
  const auto budgets = model ? model->model.budgets() : std::nullopt;
  if (!budgets) return 0;
  if (least) *least = budgets->first;
  if (largest) *largest = budgets->second;
  return 1;
}

const char* sact_model_remark(const sact_model* model, int index) {
  if (!model || index < 0 || size_t(index) >= model->model.remarks().size()) return nullptr;
  return model->model.remarks()[size_t(index)].c_str();
}

sact_input* sact_model_prepare(const sact_model* model, const sact_image_view* image,
                               const sact_input_options* options, sact_error* error) {
  return handle_of(error, [&] {
    const auto views = views_of(image, 1);
    return new sact_input{given(model, "model").model.prepare(views.front(), options_of(options))};
  });
}

void sact_input_free(sact_input* input) {
  delete input;
}

int sact_input_height(const sact_input* input) {
  return input ? input->input.height : 0;
}

int sact_input_width(const sact_input* input) {
  return input ? input->input.width : 0;
}

const float* sact_input_planes(const sact_input* input) {
  return input ? input->input.planes.data() : nullptr;
}

int sact_map_height(const sact_map* map) {
  return map ? map->map.height : 0;
}

int sact_map_width(const sact_map* map) {
  return map ? map->map.width : 0;
}

const float* sact_map_values(const sact_map* map) {
  return map ? map->map.values.data() : nullptr;
}

void sact_map_free(sact_map* map) {
  delete map;
}
