// A small strict reader of XML, to check what our SVG and HTML say.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace sact::test {

struct Element {
  std::string name;
  std::map<std::string, std::string> attributes;  // as written, entities and all
  std::string text;                               // directly inside, as written

  const std::string& operator[](const std::string& attribute) const {
    static const std::string kNone;
    const auto found = attributes.find(attribute);
    return found == attributes.end() ? kNone : found->second;
  }
};

/// The elements in the order of their starts. Fails the test for tags that do not balance,
/// attributes without quotes or given twice, and bare '<' or '&'.
class ElementReader {
 public:
  static std::vector<Element> read(std::string_view markup) {
    ElementReader reader(markup);
    while (!reader.rest_.empty() && !reader.failed_) reader.step();
    if (!reader.open_.empty()) reader.complain("not closed: " + reader.innermost().name);
    return std::move(reader.elements_);
  }

 private:
  explicit ElementReader(std::string_view markup) : rest_(markup) {}

  Element& innermost() { return elements_[open_.back()]; }

  void complain(const std::string& what) {
    failed_ = true;
    ADD_FAILURE() << what << " before: " << rest_.substr(0, 60);
  }

  std::string take_until(std::string_view end) {
    const size_t at = rest_.find(end);
    if (at == std::string_view::npos) {
      complain("no '" + std::string(end) + "'");
      return {};
    }
    const std::string part(rest_.substr(0, at));
    rest_.remove_prefix(at + end.size());
    return part;
  }

  void step() {
    if (rest_.starts_with("<!DOCTYPE")) {
      take_until(">");
    } else if (rest_.starts_with("</")) {
      rest_.remove_prefix(2);
      const std::string name = take_until(">");
      if (open_.empty() || innermost().name != name) return complain("stray end of " + name);
      open_.pop_back();
    } else if (rest_.starts_with("<")) {
      rest_.remove_prefix(1);
      start_tag();
    } else {
      text();
    }
  }

  void text() {
    const size_t end = std::min(rest_.find('<'), rest_.size());
    const std::string_view part = rest_.substr(0, end);
    check_entities(part);
    if (!open_.empty()) innermost().text += part;
    rest_.remove_prefix(end);
  }

  void start_tag() {
    const size_t name_end = std::min(rest_.find_first_of(" />"), rest_.size());
    Element element{std::string(rest_.substr(0, name_end)), {}, {}};
    rest_.remove_prefix(name_end);
    while (rest_.starts_with(" ")) {
      rest_.remove_prefix(1);
      if (rest_.starts_with("/>")) break;
      const std::string attribute = take_until("=\"");
      const std::string value = take_until("\"");
      check_entities(value);
      if (value.find('<') != std::string::npos) return complain("'<' in " + attribute);
      if (!element.attributes.emplace(attribute, value).second) complain("twice: " + attribute);
      if (failed_) return;
    }
    const bool empty = rest_.starts_with("/>");
    if (!empty && !rest_.starts_with(">")) return complain("broken tag " + element.name);
    rest_.remove_prefix(empty ? 2 : 1);
    elements_.push_back(std::move(element));
    if (!empty) open_.push_back(elements_.size() - 1);
  }

  void check_entities(std::string_view part) {
    for (size_t at = 0; (at = part.find('&', at)) != std::string_view::npos; ++at) {
      const std::string_view entity = part.substr(at, part.find(';', at) + 1 - at);
      const bool known = entity == "&amp;" || entity == "&lt;" || entity == "&gt;" ||
                         entity == "&quot;" || entity == "&#39;";
      if (!known) complain("bare '&' in " + std::string(part));
    }
  }

  std::string_view rest_;
  std::vector<Element> elements_;
  std::vector<size_t> open_;
  bool failed_ = false;
};

inline std::vector<Element> elements_named(std::string_view markup, std::string_view name) {
  std::vector<Element> found;
  for (Element& element : ElementReader::read(markup)) {
    if (element.name == name) found.push_back(std::move(element));
  }
  return found;
}

/// The texts of all elements of that name.
inline std::vector<std::string> texts_of(std::string_view markup, std::string_view name) {
  std::vector<std::string> texts;
  for (const Element& element : elements_named(markup, name)) texts.push_back(element.text);
  return texts;
}

}  // namespace sact::test
