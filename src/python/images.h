// Pictures as Python has them: paths, encoded bytes, arrays of NumPy, images of Pillow.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <sact/sact.h>

#include <optional>
#include <string>
#include <vector>

namespace sact::python {

namespace py = pybind11;

/// The bytes of a path: a str, bytes or os.PathLike.
std::string path_of(const py::handle& given);

/// How pictures are read.
struct Reading {
  std::string order = "rgb";               // of arrays, or "bgr"
  int64_t max_pixels = Image::kMaxPixels;  // of files
};

/// Something that was given as a picture. Made with the interpreter's lock held; opened without it,
/// since reading files and decoding take time.
class Picture {
 public:
  Picture(const py::handle& given, const Reading& reading);

  /// The pixels, which live as long as this does.
  ImageView open();

 private:
  void take_array(const py::array& array, const std::string& order);

  int64_t max_pixels_;
  std::string path_;
  std::string bytes_;  // of a file
  std::optional<py::array> array_;
  std::optional<Image> image_;  // decoded
  ImageView view_;
};

}  // namespace sact::python
