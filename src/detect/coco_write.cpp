// Writing COCO's files: one entry a line, numbers in the fewest digits that read back the same.
#include <cmath>

#include "base/error.h"
#include "base/file.h"
#include "detect/coco.h"
#include "io/json.h"

namespace sact::detect {
namespace {

/// A file that is written in large pieces.
class ListWriter {
 public:
  explicit ListWriter(const std::filesystem::path& path) : file_(path) {}

  void raw(std::string_view text) { buffer_ += text; }

  /// Between begin() and end() of a list.
  void entry(const std::string& text) {
    buffer_ += first_ ? "\n" : ",\n";
    buffer_ += text;
    first_ = false;
    constexpr size_t kPiece = 1 << 20;
    if (buffer_.size() >= kPiece) flush();
  }
  void begin() {
    buffer_ += "[";
    first_ = true;
  }
  void end() { buffer_ += "\n]"; }

  void commit() {
    buffer_ += "\n";
    flush();
    file_.commit();
  }

 private:
  void flush() {
    file_.write(buffer_);
    buffer_.clear();
  }
  AtomicFile file_;
  std::string buffer_;
  bool first_ = true;
};

std::string text_json(const std::string& text) {
  return io::dump_json(io::Json(text));
}

std::string number_json(double number) {
  SACT_ASSERT(std::isfinite(number));
  return fmt::format("{}", number);
}

std::string box_json(const CocoBox& box) {
  return fmt::format("[{}, {}, {}, {}]", number_json(box.x), number_json(box.y),
                     number_json(box.width), number_json(box.height));
}

std::string image_json(const CocoImage& image) {
  std::string size;
  if (image.size.positions() > 0) {
    size = fmt::format(R"(, "width": {}, "height": {})", image.size.width, image.size.height);
  }
  return fmt::format(R"({{"id": {}, "file_name": {}{}}})", image.id, text_json(image.file_name),
                     size);
}

std::string object_json(const CocoObject& object) {
  return fmt::format(
      R"({{"id": {}, "image_id": {}, "category_id": {}, "bbox": {}, "area": {}, "iscrowd": {}}})",
      object.id, object.image_id, object.category_id, box_json(object.box),
      number_json(object.area), int(object.crowd));
}

}  // namespace

void write_coco_instances(const std::filesystem::path& path, const CocoInstances& instances) {
  ListWriter writer(path);
  writer.raw("{\"images\": ");
  writer.begin();
  for (const CocoImage& image : instances.images) writer.entry(image_json(image));
  writer.end();
  writer.raw(",\n\"annotations\": ");
  writer.begin();
  for (const CocoObject& object : instances.objects) writer.entry(object_json(object));
  writer.end();
  writer.raw(",\n\"categories\": ");
  writer.begin();
  for (const Category& category : instances.categories) {
    writer.entry(fmt::format(R"({{"id": {}, "name": {}}})", category.id, text_json(category.name)));
  }
  writer.end();
  writer.raw("}");
  writer.commit();
}

void write_coco_results(const std::filesystem::path& path, const CocoResults& results) {
  ListWriter writer(path);
  writer.begin();
  for (const CocoResult& result : results.entries) {
    writer.entry(fmt::format(R"({{"image_id": {}, "category_id": {}, "bbox": {}, "score": {}}})",
                             result.image_id, result.category_id, box_json(result.box),
                             number_json(result.score)));
  }
  writer.end();
  writer.commit();
}

}  // namespace sact::detect
