// What of an annotation file is used, and every check on it; pugixml reads the XML.
#include "data/voc_xml.h"

#include <array>
#include <pugixml.hpp>

#include "base/error.h"
#include "data/fields.h"

namespace sact::data {
namespace {

constexpr int kMaxDepth = 32;
constexpr std::array<const char*, 4> kCorners = {"xmin", "ymin", "xmax", "ymax"};

template <typename... Args>
[[noreturn]] void refuse_file(const std::string& name, fmt::format_string<Args...> format,
                              Args&&... args) {
  fail("{}: is not a usable annotation: {}", name,
       fmt::format(format, std::forward<Args>(args)...));
}

/// The root of a file that is XML, holds one <annotation> and nests no deeper than it should.
pugi::xml_node annotation_in(pugi::xml_document& document, std::string_view text,
                             const std::string& name) {
  // No entity but the five of XML is ever expanded: no file can grow by being read.
  const pugi::xml_parse_result result = document.load_buffer(text.data(), text.size());
  if (result.status == pugi::status_no_document_element) {
    refuse_file(name, "there is no <annotation> in it");
  }
  if (!result) {
    refuse_file(name, "{} (at byte {} of {})", result.description(), result.offset, text.size());
  }
  pugi::xml_node root;
  for (const pugi::xml_node& node : document) {
    if (node.type() != pugi::node_element) continue;
    if (root) refuse_file(name, "it has more than one <annotation>");
    root = node;
  }
  if (root.name() != std::string_view("annotation")) {
    refuse_file(name, "it starts with <{}>", printable(root.name(), 40));
  }
  struct Depth : pugi::xml_tree_walker {
    bool for_each(pugi::xml_node&) override { return depth() < kMaxDepth; }
  } walker;
  if (!document.traverse(walker)) refuse_file(name, "elements nest deeper than {}", kMaxDepth);
  return root;
}

std::string_view text_of(const pugi::xml_node& node) {
  return trimmed(node.text().get());
}

double number_in(const pugi::xml_node& node, const std::string& name) {
  const auto value = parse_number(text_of(node));
  if (!value) {
    refuse_file(name, "<{}> is '{}' and not a number", node.name(), printable(text_of(node), 40));
  }
  return *value;
}

/// 0 where it is not given.
int side_in(const pugi::xml_node& node, const std::string& name) {
  if (!node) return 0;
  const double value = number_in(node, name);
  if (value < 0 || value > 1e6) refuse_file(name, "<{}> is {:g}", node.name(), value);
  return int(value);
}

std::array<double, 4> corners_in(const pugi::xml_node& box, const std::string& name) {
  std::array<double, 4> corners;
  for (size_t i = 0; i < kCorners.size(); ++i) {
    const pugi::xml_node corner = box.child(kCorners[i]);
    if (!corner) refuse_file(name, "a <bndbox> has no <{}>", kCorners[i]);
    corners[i] = number_in(corner, name);
  }
  return corners;
}

}  // namespace

VocAnnotation parse_voc_objects(std::string_view text, const std::string& name) {
  pugi::xml_document document;
  const pugi::xml_node root = annotation_in(document, text, name);
  VocAnnotation annotation;
  const pugi::xml_node size = root.child("size");
  annotation.image = {side_in(size.child("height"), name), side_in(size.child("width"), name)};
  for (const pugi::xml_node& object : root.children("object")) {
    const std::string class_name(text_of(object.child("name")));
    const bool difficult = text_of(object.child("difficult")) == "1";
    annotation.objects_without_box += !object.child("bndbox");
    for (const pugi::xml_node& box : object.children("bndbox")) {
      annotation.objects.push_back({class_name, difficult, corners_in(box, name)});
    }
  }
  return annotation;
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
