#include <pybind11/stl.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "python/runners.h"

namespace sact::python {
namespace {

using Classifier = Pool<Session>;
using ObjectFinder = Pool<Detector>;

constexpr const char* kCallArguments = R"(
size: side of the square network input; 0 for the model's own.
whole: all of the picture with its aspect ratio, `size` being the shorter side, instead of the
    central crop.
budget: share of the dense network's work to reach on average, by the model's curve.
hard_budget: share that no picture may exceed.
halting_shift: added to halting scores; above 0 less work is done.
order: of an array's channels, "rgb" or "bgr".
max_pixels: files with more are refused before memory is taken for them.
progress: called as progress(done, total) when pictures are done.
cancelled: asked before a picture is opened and after every residual unit; True ends the call with
    sact.Cancelled.
)";

std::optional<Precision> precision_of(const std::optional<std::string>& name) {
  if (!name) return {};
  if (*name == "fp32") return Precision::kFloat32;
  if (*name == "bf16") return Precision::kBFloat16;
  if (*name == "int8") return Precision::kInt8;
  if (*name == "fp16") return Precision::kFloat16;
  throw Error("precision must be 'fp32', 'bf16', 'fp16' (on GPUs), 'int8' or None, not '" + *name +
              "'");
}

py::object load(const py::object& path, const std::optional<std::string>& precision, int threads,
                int batch, bool exact, const std::string& device,
                const std::optional<std::string>& isa) {
  ModelOptions options;
  options.isa = isa.value_or("");
  options.precision = precision_of(precision);
  options.exact = exact;
  options.device = device;
  SessionOptions session;
  session.threads = threads;
  session.batch = batch;
  const std::string file = path_of(path);
  std::unique_ptr<Classifier> classifier;
  std::unique_ptr<ObjectFinder> detector;
  {
    const py::gil_scoped_release release;
    const Model model = Model::load(file, options);
    if (model.detects()) {
      detector = std::make_unique<ObjectFinder>(model, session);
    } else {
      classifier = std::make_unique<Classifier>(model, session);
    }
  }
  return detector ? py::cast(std::move(detector)) : py::cast(std::move(classifier));
}

bool is_list(const py::object& images) {
  return py::isinstance<py::list>(images) || py::isinstance<py::tuple>(images);
}

void stop_if_cancelled(const RunOptions& options) {
  if (options.cancelled && options.cancelled()) throw Cancelled("the call was cancelled");
}

/// The pixels of all, which live as long as `pictures` do. Needs no lock.
std::vector<ImageView> opened(std::vector<Picture>& pictures, const RunOptions& options) {
  std::vector<ImageView> views;
  for (Picture& picture : pictures) {
    stop_if_cancelled(options);
    views.push_back(picture.open());
  }
  return views;
}

py::object python_of(const Map& map) {
  return array_of(map);
}

template <typename Some>
py::object python_of(const Some& result) {
  return py::cast(result);
}

/// Calls run(views, options), without the interpreter's lock, for so many pictures at a time, whose
/// pixels are let go before the next ones are opened. Gives one result or a list.
template <typename Run>
py::object answer(const py::object& images, size_t at_a_time, const Reading& reading,
                  const RunOptions& options, const Run& run) {
  const bool many = is_list(images);
  const py::tuple all = many ? py::tuple(images) : py::make_tuple(images);
  py::list results;
  for (size_t first = 0; first < all.size(); first += at_a_time) {
    RunOptions part = options;
    if (options.progress) {
      part.progress = [&](int done, int) { options.progress(int(first) + done, int(all.size())); };
    }
    std::vector<Picture> pictures;
    for (size_t i = first; i < std::min(first + at_a_time, all.size()); ++i) {
      stop_if_cancelled(options);
      pictures.emplace_back(all[i], reading);
    }
    const auto found = [&] {
      const py::gil_scoped_release release;
      return run(opened(pictures, part), part);
    }();
    for (const auto& result : found) results.append(python_of(result));
  }
  return many ? py::object(results) : py::object(results[0]);
}

py::object classify(Classifier& self, const py::object& images, int size, bool whole,
                    std::optional<double> budget, std::optional<double> hard_budget,
                    std::optional<double> halting_shift, const std::string& order,
                    int64_t max_pixels, const py::object& progress, const py::object& cancelled) {
  const CallOptions call{size, whole, budget, hard_budget, halting_shift, progress, cancelled};
  return answer(images, size_t(self.batch()), {order, max_pixels}, call.options(),
                [&](const std::vector<ImageView>& views, const RunOptions& options) {
                  return self.with([&](Session& session) { return session.run(views, options); });
                });
}

py::object detect(ObjectFinder& self, const py::object& images, double score, int most, int boxes,
                  bool all_boxes, std::optional<double> hard_budget,
                  std::optional<double> halting_shift, const std::string& order, int64_t max_pixels,
                  const py::object& progress, const py::object& cancelled) {
  const CallOptions call{0, false, {}, hard_budget, halting_shift, progress, cancelled};
  const DetectOptions wanted{score, most, boxes, all_boxes};
  return answer(images, 1, {order, max_pixels}, call.options(),
                [&](const std::vector<ImageView>& views, const RunOptions& options) {
                  return self.with(
                      [&](Detector& detector) { return detector.detect(views, wanted, options); });
                });
}

template <typename Runner>
py::object saliency(Pool<Runner>& self, const py::object& images, int size, double blur,
                    double center_weight, double center_sigma, std::optional<double> budget,
                    std::optional<double> hard_budget, std::optional<double> halting_shift,
                    const std::string& order, int64_t max_pixels, const py::object& progress,
                    const py::object& cancelled) {
  const CallOptions call{0, true, budget, hard_budget, halting_shift, progress, cancelled};
  const SaliencyOptions wanted{size, blur, center_weight, center_sigma};
  return answer(images, 1, {order, max_pixels}, call.options(),
                [&](const std::vector<ImageView>& views, RunOptions options) {
                  const auto progress = std::exchange(options.progress, {});  // not all tell it
                  const Map map = self.with([&](Runner& runner) {
                    return runner.saliency_map(views.front(), wanted, options);
                  });
                  if (progress) progress(1, 1);
                  return std::vector{map};
                });
}

template <typename Runner>
py::class_<Pool<Runner>> declare_model(py::module_& module, const char* name, const char* about) {
  using Self = Pool<Runner>;
  const auto model = [](auto get) { return [get](const Self& self) { return get(self.model()); }; };
  return py::class_<Self>(module, name, about)
      .def_property_readonly("labels", model([](const Model& m) {
                               std::vector<std::string> labels;
                               for (int i = 0; i < m.classes(); ++i) labels.push_back(m.label(i));
                               return labels;
                             }),
                             "The name of every class.")
      .def_property_readonly("input_size", model([](const Model& m) { return m.input_size(); }),
                             "Side of the pictures that the model was made for.")
      .def_property_readonly("units", model([](const Model& m) { return m.units(); }),
                             "Residual units of each block.")
      .def_property_readonly("parameters", model([](const Model& m) { return m.parameters(); }),
                             "How many numbers the model has learned.")
      .def_property_readonly("adaptive",
                             model([](const Model& m) { return m.halting() != Halting::kNone; }),
                             "Whether it spends more layers on some pictures than on others.")
      .def_property_readonly("budgets", model([](const Model& m) { return m.budgets(); }),
                             "The least and the largest budget, or None without a curve.")
      .def_property_readonly("remarks", model([](const Model& m) { return m.remarks(); }),
                             "What a person should know about the file.")
      .def(
          "dense_flops",
          [](const Self& self, int height, int width) {
            return self.model().dense_flops(height, width);
          },
          py::arg("height"), py::arg("width"),
          "Floating point operations of the network without halting; of a detector those of its "
          "extractor.")
      .def("saliency", &saliency<Runner>, py::arg("image"), py::kw_only(), py::arg("size") = 0,
           py::arg("blur") = 10.0, py::arg("center_weight") = 0.005, py::arg("center_sigma") = 0.25,
           py::arg("budget") = py::none(), py::arg("hard_budget") = py::none(),
           py::arg("halting_shift") = py::none(), py::arg("order") = "rgb",
           py::arg("max_pixels") = Image::kMaxPixels, py::arg("progress") = py::none(),
           py::arg("cancelled") = py::none(),
           "Where people will look: the ponder cost map of the whole picture, normalised, blurred, "
           "with a centred Gaussian added. An array [height, width]; of a list a list.\n\n"
           "size: the shorter side of what the network sees; 0 for 180, and 360 for a detector.\n"
           "blur: standard deviation of the Gaussian, in positions of the map.\n"
           "center_weight: of the centred Gaussian.\n"
           "center_sigma: its standard deviation, as a share of each side.\n"
           "Other arguments are those of a call.");
}

/// Looks for signals such as Ctrl-C, which Python tells its main thread alone. Not each time: that
/// takes the interpreter's lock.
class Signals {
 public:
  /// With the lock held.
  Signals() {
    const py::module_ threading = py::module_::import("threading");
    here_ = threading.attr("current_thread")().is(threading.attr("main_thread")());
  }

  void look() {
    constexpr std::chrono::milliseconds kPause{50};
    const auto now = std::chrono::steady_clock::now();
    if (!here_ || now < last_ + kPause) return;
    last_ = now;
    const py::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  }

 private:
  bool here_ = false;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace

RunOptions CallOptions::options() const {
  RunOptions all;
  all.input = {size, whole};
  if (budget || hard_budget || halting_shift) {
    all.work = Work{halting_shift.value_or(0), budget.value_or(0), hard_budget.value_or(0)};
  }
  if (!progress.is_none()) {
    all.progress = [told = progress.ptr()](int done, int total) {
      const py::gil_scoped_acquire acquire;
      const py::handle call(told);
      call(done, total);
    };
  }
  all.cancelled = [asked = cancelled.is_none() ? nullptr : cancelled.ptr(),
                   signals = Signals()]() mutable {
    signals.look();
    if (!asked) return false;
    const py::gil_scoped_acquire acquire;
    return py::cast<bool>(py::bool_(py::handle(asked)()));
  };
  return all;
}

void declare_models(py::module_& module) {
  const std::string arguments = kCallArguments;
  declare_model<Session>(module, "Classifier",
                         "A model that says what a picture shows. Call it with a picture or a list "
                         "of them, from any number of threads.")
      .def(
          "__call__", &classify, py::arg("image"), py::kw_only(), py::arg("size") = 0,
          py::arg("whole") = false, py::arg("budget") = py::none(),
          py::arg("hard_budget") = py::none(), py::arg("halting_shift") = py::none(),
          py::arg("order") = "rgb", py::arg("max_pixels") = Image::kMaxPixels,
          py::arg("progress") = py::none(), py::arg("cancelled") = py::none(),
          ("The sact.Result of a picture: a path, the bytes of a file, a NumPy array of uint8 or a "
           "Pillow image; of a list a list.\n" +
           arguments)
              .c_str())
      .def(
          "warm_up",
          [](Classifier& self, int images, int size) {
            self.with([&](Session& session) {
              session.warm_up(images, InputOptions{size, false});
            });
          },
          py::arg("images") = 1, py::arg("size") = 0, py::call_guard<py::gil_scoped_release>(),
          "Takes what the first call would have to wait for.");
  declare_model<Detector>(module, "Detector",
                          "A model that finds objects. Call it with a picture or a list of them, "
                          "from any number of threads.")
      .def("__call__", &detect, py::arg("image"), py::kw_only(), py::arg("score") = 0.05,
           py::arg("most") = 100, py::arg("boxes") = 0, py::arg("all_boxes") = false,
           py::arg("hard_budget") = py::none(), py::arg("halting_shift") = py::none(),
           py::arg("order") = "rgb", py::arg("max_pixels") = Image::kMaxPixels,
           py::arg("progress") = py::none(), py::arg("cancelled") = py::none(),
           "The sact.Detections of a picture, or of a list a list: objects of at least `score`, at "
           "most `most` of them.\n\n"
           "boxes: how many are looked at, at most; 0 for the model's own number.\n"
           "all_boxes: also those in which no object of that score is likely.\n"
           "Other arguments are those of sact.Classifier.")
      .def(
          "warm_up",
          [](ObjectFinder& self, int height, int width) {
            self.with([&](Detector& detector) { detector.warm_up(height, width); });
          },
          py::arg("height") = 0, py::arg("width") = 0, py::call_guard<py::gil_scoped_release>(),
          "Takes what the first call would have to wait for.");
  module.def(
      "load", &load, py::arg("path"), py::kw_only(), py::arg("precision") = py::none(),
      py::arg("threads") = 0, py::arg("batch") = 8, py::arg("exact") = false,
      py::arg("device") = "cpu", py::arg("isa") = py::none(),
      "Loads a model file: a sact.Classifier or a sact.Detector.\n\n"
      "precision: 'fp32', 'bf16', 'fp16', 'int8'; None for int8 where the model was exported for "
      "it, and fp32 otherwise.\n"
      "threads: that work on one call; 0 for all. With calls from several threads, 1.\n"
      "batch: pictures of one call that are open, and pass through the network together, at most.\n"
      "exact: direct products in all layers.\n"
      "device: what runs the model, one of sact.devices().\n"
      "isa: instruction set of the kernels, such as 'AVX2' or 'scalar'; None for the one that the "
      "environment variable SACT_ISA names, or the fastest of this processor.");
  module.def("devices", &Model::devices, "The devices that this library has back ends for.");
}

}  // namespace sact::python
