// A small tolerant reader of ImageNet and Pascal VOC annotation files.
#include "data/voc_xml.h"

#include <array>
#include <optional>
#include <vector>

#include "base/error.h"
#include "data/fields.h"

namespace sact::data {
namespace {

constexpr size_t kMaxDepth = 32;
constexpr std::string_view kObject = "annotation/object";
constexpr std::string_view kBox = "annotation/object/bndbox";
constexpr std::array<std::string_view, 4> kCorners = {"xmin", "ymin", "xmax", "ymax"};

template <typename... Args>
[[noreturn]] void refuse_file(const std::string& name, fmt::format_string<Args...> format,
                              Args&&... args) {
  fail("{}: is not a usable annotation: {}", name,
       fmt::format(format, std::forward<Args>(args)...));
}

/// Walks over the tags with the path of open elements. No entity is ever expanded and every step
/// moves forward, so that no file can make this long or large.
class VocReader {
 public:
  VocReader(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  VocAnnotation read() {
    size_t open = 0;
    while ((open = text_.find('<', position_)) != std::string_view::npos) {
      content_ = text_.substr(position_, open - position_);
      position_ = open;
      const std::string_view rest = text_.substr(open);
      if (rest.starts_with("<!--")) {
        skip_past("-->");
      } else if (rest.starts_with("<![CDATA[")) {
        skip_past("]]>");
      } else if (rest.starts_with("<?")) {
        skip_past("?>");
      } else if (rest.starts_with("<!")) {
        skip_past(">");
      } else if (rest.starts_with("</")) {
        close_element();
      } else {
        open_element();
      }
    }
    if (!starts_.empty()) refuse("it ends inside of <{}>", printable(last_name(), 40));
    if (!seen_root_) refuse("there is no <annotation> in it");
    return std::move(annotation_);
  }

 private:
  template <typename... Args>
  [[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) const {
    refuse_file(name_, format, std::forward<Args>(args)...);
  }

  void skip_past(std::string_view end) {
    const size_t found = text_.find(end, position_);
    if (found == std::string_view::npos) refuse("it ends before '{}'", end);
    position_ = found + end.size();
  }

  /// The text of the tag at the position, between < and >; attributes may hold > in quotes.
  std::string_view take_tag() {
    char quote = 0;
    for (size_t i = position_ + 1; i < text_.size(); ++i) {
      const char c = text_[i];
      if (quote != 0) {
        if (c == quote) quote = 0;
      } else if (c == '"' || c == '\'') {
        quote = c;
      } else if (c == '>') {
        const std::string_view tag = text_.substr(position_ + 1, i - position_ - 1);
        position_ = i + 1;
        return tag;
      }
    }
    refuse("it ends inside of a tag");
  }

  std::string_view last_name() const { return std::string_view(path_).substr(starts_.back()); }

  void open_element() {
    std::string_view tag = take_tag();
    const bool is_empty = tag.ends_with('/');
    if (is_empty) tag.remove_suffix(1);
    const std::string_view name = tag.substr(0, tag.find_first_of(" \t\r\n"));
    if (name.empty()) refuse("a tag has no name");
    if (starts_.empty()) {
      if (name != "annotation") refuse("it starts with <{}>", printable(name, 40));
      if (seen_root_) refuse("it has more than one <annotation>");
      seen_root_ = true;
    }
    if (starts_.size() == kMaxDepth) refuse("elements nest deeper than {}", kMaxDepth);
    if (!starts_.empty()) path_ += '/';
    starts_.push_back(path_.size());
    path_ += name;
    if (path_ == kObject) {
      class_name_ = {};
      difficult_ = false;
      first_of_object_ = annotation_.objects.size();
    }
    if (path_ == kBox) corners_ = {};
    if (is_empty) {
      content_ = {};
      leave_element();
    }
  }

  void close_element() {
    const std::string_view name = trimmed(take_tag().substr(1));
    if (starts_.empty() || name != last_name()) {
      refuse("</{}> closes what is not open", printable(name, 40));
    }
    leave_element();
  }

  void leave_element() {
    if (path_ == "annotation/size/width") {
      annotation_.image.width = side();
    } else if (path_ == "annotation/size/height") {
      annotation_.image.height = side();
    } else if (path_ == "annotation/object/name") {
      class_name_ = trimmed(content_);
    } else if (path_ == "annotation/object/difficult") {
      difficult_ = trimmed(content_) == "1";
    } else if (path_ == kObject) {
      end_object();
    } else if (path_ == kBox) {
      add_box();
    } else if (path_.starts_with(kBox) && starts_.back() == kBox.size() + 1) {
      for (size_t i = 0; i < kCorners.size(); ++i) {
        if (last_name() == kCorners[i]) corners_[i] = number();
      }
    }
    path_.resize(starts_.back() > 0 ? starts_.back() - 1 : 0);
    starts_.pop_back();
  }

  double number() const {
    const auto value = parse_number(content_);
    if (!value) refuse("<{}> is '{}' and not a number", last_name(), printable(content_, 40));
    return *value;
  }

  int side() const {
    const double value = number();
    if (value < 0 || value > 1e6) refuse("<{}> is {:g}", last_name(), value);
    return int(value);
  }

  void add_box() {
    for (size_t i = 0; i < kCorners.size(); ++i) {
      if (!corners_[i]) refuse("a <bndbox> has no <{}>", kCorners[i]);
    }
    VocObject object;
    for (size_t i = 0; i < kCorners.size(); ++i) object.corners[i] = *corners_[i];
    annotation_.objects.push_back(std::move(object));
  }

  /// Name and mark may stand after the box.
  void end_object() {
    for (size_t i = first_of_object_; i < annotation_.objects.size(); ++i) {
      annotation_.objects[i].name = class_name_;
      annotation_.objects[i].difficult = difficult_;
    }
    annotation_.objects_without_box += first_of_object_ == annotation_.objects.size();
  }

  std::string_view text_;
  const std::string& name_;
  size_t position_ = 0;
  std::string path_;            // names of the open elements, joined by /
  std::vector<size_t> starts_;  // where each name starts in the path
  std::string_view content_;    // text since the last tag
  bool seen_root_ = false;
  std::array<std::optional<double>, 4> corners_;
  std::string_view class_name_;
  bool difficult_ = false;
  size_t first_of_object_ = 0;
  VocAnnotation annotation_;
};

}  // namespace

VocAnnotation parse_voc_objects(std::string_view text, const std::string& name) {
  return VocReader(text, name).read();
}

Annotation parse_voc_xml(std::string_view text, const std::string& name) {
  const VocAnnotation read = parse_voc_objects(text, name);
  Annotation annotation{read.image};
  for (const VocObject& object : read.objects) {
    const auto [x0, y0, x1, y1] = object.corners;
    const std::string problem = box_problem(x0, y0, x1, y1);
    if (!problem.empty()) {
      refuse_file(name, "the box {:g},{:g},{:g},{:g} is wrong: {}", x0, y0, x1, y1, problem);
    }
    if (annotation.has_size() && (x0 >= read.image.width || y0 >= read.image.height)) {
      refuse_file(name, "the box {:g},{:g},{:g},{:g} lies outside of its {}x{} image", x0, y0, x1,
                  y1, read.image.width, read.image.height);
    }
    annotation.boxes.push_back({float(x0), float(y0), float(x1), float(y1)});
  }
  return annotation;
}

}  // namespace sact::data
