#include "python/images.h"

#include <algorithm>
#include <cstdlib>

namespace sact::python {
namespace {

PixelOrder order_of(py::ssize_t channels, const std::string& order) {
  if (order != "rgb" && order != "bgr")
    throw Error("order must be 'rgb' or 'bgr', not '" + order + "'");
  const bool bgr = order == "bgr";
  switch (channels) {
    case 1:
      return PixelOrder::kGrey;
    case 3:
      return bgr ? PixelOrder::kBgr : PixelOrder::kRgb;
    case 4:
      return bgr ? PixelOrder::kBgra : PixelOrder::kRgba;
    default:
      throw Error("an array with " + std::to_string(channels) +
                  " channels is no picture: its last axis must have 1, 3 or 4");
  }
}

bool is_pillow(const py::handle& given) {
  return py::hasattr(given, "convert") && py::hasattr(given, "mode") &&
         py::hasattr(given, "getbands");
}

/// Whether Pillow read it from a TIFF file.
bool is_tiff(const py::object& image) {
  return py::str(image.attr("format")).equal(py::str("TIFF"));
}

/// Numbers of 16 bits in the 8 that the decoder of files would give. It rounds; libtiff cuts, and
/// turns those around of which 0 is white.
py::array eight_bits(const py::object& image) {
  const py::array_t<uint16_t, py::array::c_style | py::array::forcecast> wide(
      py::module_::import("numpy").attr("asarray")(image));
  const bool cut = is_tiff(image);
  constexpr int kPhotometric = 262;
  const bool zero_is_white =
      cut && image.attr("tag_v2").attr("get")(kPhotometric, py::none()).equal(py::int_(0));
  py::array_t<uint8_t> grey({wide.shape(0), wide.shape(1)});
  std::transform(wide.data(), wide.data() + wide.size(), grey.mutable_data(), [=](uint16_t value) {
    const int eight = cut ? value >> 8 : (value + 128) / 257;
    return uint8_t(zero_is_white ? 255 - eight : eight);
  });
  return grey;
}

/// The pixels of a Pillow image as a viewer, and the decoder of files, would show them.
py::array shown(py::object image) {
  image.attr("load")();
  // Pillow turns TIFF files while it loads them, and may still say that they have to be turned.
  const py::object orientation = image.attr("getexif")().attr("get")(0x0112, 1);
  if (!is_tiff(image) && !orientation.equal(py::int_(1)))
    image = py::module_::import("PIL.ImageOps").attr("exif_transpose")(image);
  const std::string mode = py::str(image.attr("mode"));
  const bool transparent = !image.attr("info").attr("get")("transparency").is_none();
  if (mode.starts_with("I;16") && !transparent) return eight_bits(image);
  if (mode[0] == 'I' || mode == "F") {
    throw Error("a Pillow image of mode '" + mode +
                "' does not say which of its numbers is white: pass the path of its file, or an "
                "array of uint8");
  }
  const bool has_alpha = mode == "LA" || mode == "PA" || mode == "La" || mode == "RGBa";
  if (transparent || has_alpha) {
    image = image.attr("convert")("RGBA");
  } else if (mode != "RGB" && mode != "L" && mode != "RGBA") {
    image = image.attr("convert")("RGB");
  }
  return py::module_::import("numpy").attr("asarray")(image);
}

/// What an exception of Python says, on one line.
std::string text_of(const py::error_already_set& error) {
  const py::object words = py::str(error.value()).attr("split")();
  return py::cast<std::string>(py::str(" ").attr("join")(words));
}

}  // namespace

std::string path_of(const py::handle& given) {
  auto path = py::cast<std::string>(py::module_::import("os").attr("fsencode")(given));
  if (path.find('\0') != std::string::npos) {
    throw Error(path.substr(0, path.find('\0')) +
                ": there is a NUL behind this part of the path, and no file has that in its name");
  }
  return path;
}

Picture::Picture(const py::handle& given, const Reading& reading)
    : max_pixels_(reading.max_pixels) {
  if (py::isinstance<py::array>(given)) {
    take_array(py::reinterpret_borrow<py::array>(given), reading.order);
  } else if (py::isinstance<py::bytes>(given)) {
    bytes_ = py::cast<std::string>(given);
    if (bytes_.empty()) throw Error("these bytes are empty, and no picture");
  } else if (is_pillow(given)) {
    try {
      take_array(shown(py::reinterpret_borrow<py::object>(given)), "rgb");
    } catch (const py::error_already_set& error) {
      if (!error.matches(PyExc_Exception)) throw;  // Ctrl-C
      throw Error("Pillow cannot read this image: " + text_of(error));
    }
  } else if (py::isinstance<py::str>(given) || py::hasattr(given, "__fspath__")) {
    path_ = path_of(given);
    if (path_.empty()) throw Error("the path of a picture is empty");
  } else {
    throw py::type_error(
        "a picture is a path, bytes of a file, an array of NumPy or an image of Pillow, not " +
        std::string(py::str(py::type::of(given).attr("__name__"))));
  }
}

void Picture::take_array(const py::array& given, const std::string& order) {
  if (!py::isinstance<py::array_t<uint8_t>>(given)) {
    throw Error("an array of " + std::string(py::str(given.dtype())) +
                " is no picture: it must have numbers of 0 to 255 as uint8");
  }
  if (given.ndim() != 2 && given.ndim() != 3) {
    throw Error("an array of " + std::to_string(given.ndim()) +
                " axes is no picture: it must be [height, width] or [height, width, channels]");
  }
  const py::ssize_t channels = given.ndim() == 2 ? 1 : given.shape(2);
  const PixelOrder layout = order_of(channels, order);
  py::array array = given;
  constexpr py::ssize_t kMost = 1000000000;
  if (array.shape(0) > kMost / std::max<py::ssize_t>(array.shape(1), 1))
    throw Error("this array is too large for a picture");
  const py::ssize_t row_bytes = array.shape(1) * channels;
  const bool packed =
      array.strides(1) == channels &&
      (array.ndim() == 2 || array.strides(2) == 1 || channels == 1) &&
      // Rows that lie over each other, as those of numpy.broadcast_to, are none of a view.
      (array.shape(0) < 2 || std::abs(array.strides(0)) >= row_bytes);
  if (!packed) array = py::module_::import("numpy").attr("ascontiguousarray")(array);
  view_ = {static_cast<const uint8_t*>(array.data()), int(array.shape(1)), int(array.shape(0)),
           ptrdiff_t(array.strides(0)), layout};
  if (view_.height < 2) view_.stride = 0;  // that of a single row means nothing
  array_ = std::move(array);
}

ImageView Picture::open() {
  if (array_) return view_;
  image_ = path_.empty() ? Image::decode(bytes_.data(), bytes_.size(), "image", max_pixels_)
                         : Image::load(path_, max_pixels_);
  return image_->view();
}

}  // namespace sact::python
