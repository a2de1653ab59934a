#include <pybind11/stl.h>

#include <cstring>

#include "python/runners.h"

namespace sact::python {

py::array_t<float> array_of(const Map& map) {
  return py::array_t<float>({map.height, map.width}, map.values.data());
}

py::array_t<int32_t> units_of(const BlockResult& block) {
  return py::array_t<int32_t>({block.ponder_cost.height, block.ponder_cost.width},
                              block.units.data());
}

namespace {

std::string percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %%", 100 * share);
  return text;
}

double share_of(const Result& result) {
  return double(result.flops()) / double(result.dense_flops());
}

/// Of the extractor and of what looked at the boxes.
double share_of(const Detections& found) {
  return double(found.flops() + found.box_flops()) /
         double(found.dense_flops() + found.dense_box_flops());
}

/// What results of both kinds of models have.
template <typename Some>
void declare_maps(py::class_<Some>& declared) {
  declared
      .def_property_readonly(
          "ponder_map", [](const Some& r) { return array_of(r.ponder_cost_map()); },
          "The ponder cost of every position, over all blocks: [height, width].")
      .def_property_readonly("ponder_cost", &Some::ponder_cost, "Its mean over positions.")
      .def_property_readonly(
          "blocks", [](const Some& r) { return r.blocks(); },
          "Maps of the blocks one by one: a list of sact.Block.")
      .def_property_readonly("flops", &Some::flops,
                             "Floating point operations that were spent; of a detector those of "
                             "its extractor.")
      .def_property_readonly("dense_flops", &Some::dense_flops,
                             "Those of the same network without halting.")
      .def_property_readonly(
          "share", [](const Some& r) { return share_of(r); },
          "All operations that were spent, boxes included, over those without halting.");
}

void declare_classes(py::module_& module) {
  py::class_<ClassScore>(module, "ClassScore", "A class and its probability.")
      .def_readonly("index", &ClassScore::index)
      .def_readonly("label", &ClassScore::label)
      .def_readonly("score", &ClassScore::score)
      .def("__repr__",
           [](const ClassScore& s) { return "<" + s.label + " " + percent(s.score) + ">"; });
  py::class_<Result> result(module, "Result", "What a classifier said of a picture.");
  declare_maps(result);
  result
      .def_property_readonly(
          "label", [](const Result& r) { return r.top(1).front().label; },
          "The most probable class.")
      .def_property_readonly(
          "index", [](const Result& r) { return r.top(1).front().index; }, "Its number.")
      .def_property_readonly(
          "score", [](const Result& r) { return r.top(1).front().score; }, "Its probability.")
      .def(
          "top", [](const Result& r, int count) { return r.top(count); }, py::arg("count") = 5,
          "The most probable classes, the best first.")
      .def_property_readonly(
          "logits",
          [](const Result& r) {
            return py::array_t<float>(py::ssize_t(r.logits().size()), r.logits().data());
          },
          "What the head gave, one number for each class.")
      .def_property_readonly(
          "probabilities",
          [](const Result& r) {
            const std::vector<double> all = r.probabilities();
            return py::array_t<double>(py::ssize_t(all.size()), all.data());
          },
          "The same through softmax.")
      .def_property_readonly(
          "ms",
          [](const Result& r) {
            return std::map<std::string, double>{{"prepare", r.ms().prepare},
                                                 {"network", r.ms().network}};
          },
          "Milliseconds by stage.")
      .def("__repr__", [](const Result& r) {
        const ClassScore best = r.top(1).front();
        return "<sact.Result " + best.label + " " + percent(best.score) + ", " +
               percent(share_of(r)) + " of the work>";
      });
}

void declare_objects(py::module_& module) {
  py::class_<DetectedObject>(module, "Object", "An object that a detector found.")
      .def_readonly("index", &DetectedObject::index)
      .def_readonly("label", &DetectedObject::label)
      .def_readonly("score", &DetectedObject::score)
      .def_property_readonly(
          "box",
          [](const DetectedObject& o) {
            return py::make_tuple(o.box.x0, o.box.y0, o.box.x1, o.box.y1);
          },
          "Its corners in pixels: (x0, y0, x1, y1).")
      .def("__repr__",
           [](const DetectedObject& o) { return "<" + o.label + " " + percent(o.score) + ">"; });
  py::class_<Detections> detections(module, "Detections", "What a detector found in a picture.");
  declare_maps(detections);
  detections
      .def_property_readonly(
          "objects", [](const Detections& d) { return d.objects(); },
          "A list of sact.Object, the highest score first.")
      .def_property_readonly("box_flops", &Detections::box_flops,
                             "Operations of the last block and the head, over all boxes.")
      .def_property_readonly("dense_box_flops", &Detections::dense_box_flops,
                             "The same without halting.")
      .def_property_readonly("proposals", &Detections::proposals, "Boxes that were looked at.")
      .def_property_readonly("scaled_height", &Detections::scaled_height,
                             "Height that the picture was scaled to.")
      .def_property_readonly("scaled_width", &Detections::scaled_width,
                             "Width that the picture was scaled to.")
      .def_property_readonly(
          "ms",
          [](const Detections& d) {
            const DetectorTimes& ms = d.ms();
            return std::map<std::string, double>{
                {"scale", ms.scale}, {"extractor", ms.extractor}, {"proposals", ms.proposals},
                {"crops", ms.crops}, {"boxes", ms.boxes},         {"rest", ms.rest}};
          },
          "Milliseconds by stage.")
      .def("__len__", [](const Detections& d) { return d.objects().size(); })
      .def("__iter__", [](const Detections& d) { return py::iter(py::cast(d.objects())); })
      .def("__repr__", [](const Detections& d) {
        return "<sact.Detections of " + std::to_string(d.objects().size()) + " objects, " +
               percent(share_of(d)) + " of the work>";
      });
}

}  // namespace

void declare_results(py::module_& module) {
  py::class_<BlockResult>(module, "Block", "One block of a network on one picture.")
      .def_property_readonly(
          "ponder_map", [](const BlockResult& b) { return array_of(b.ponder_cost); },
          "The ponder cost of every position.")
      .def_property_readonly("units", &units_of, "How many units every position got.");
  declare_classes(module);
  declare_objects(module);
}

namespace {

PyObject* error_type = nullptr;
PyObject* cancelled_type = nullptr;

/// Paths in messages are bytes, and need not be UTF-8.
void set_error(PyObject* type, const char* text) {
  const auto message = py::reinterpret_steal<py::object>(
      PyUnicode_DecodeUTF8(text, py::ssize_t(std::strlen(text)), "backslashreplace"));
  if (message) PyErr_SetObject(type, message.ptr());
}

void declare_errors(py::module_& module) {
  error_type = py::exception<Error>(module, "Error", PyExc_ValueError).release().ptr();
  cancelled_type = py::exception<Cancelled>(module, "Cancelled", error_type).release().ptr();
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const Cancelled& error) {
      set_error(cancelled_type, error.what());
    } catch (const Error& error) {
      set_error(error_type, error.what());
    }
  });
}

}  // namespace
}  // namespace sact::python

PYBIND11_MODULE(_native, module) {
  namespace py = pybind11;
  module.doc() = "The compiled part of sact.";
  sact::python::declare_errors(module);
  sact::python::declare_results(module);
  sact::python::declare_models(module);
  module.attr("__version__") = SACT_VERSION;
}
