#include "serve/form.h"

#include <strings.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/error.h"
#include "serve/words.h"

namespace sact::serve {
namespace {

constexpr char kNoForm[] = "this is no form as multipart/form-data has them: ";

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// All before `mark`, which `text` loses with it; all of it where there is none.
std::string_view cut(std::string_view& text, std::string_view mark) {
  const size_t at = text.find(mark);
  const std::string_view before = text.substr(0, at);
  text.remove_prefix(at == text.npos ? text.size() : at + mark.size());
  return before;
}

struct WithoutCase {
  bool operator()(const std::string& a, const std::string& b) const {
    return ::strcasecmp(a.c_str(), b.c_str()) < 0;
  }
};
using Parameters = std::map<std::string, std::string, WithoutCase>;

/// The value in quotes that `text` begins with, and loses. Paths of Windows come with single
/// backslashes: only before a quote or another one do they say something else.
std::string quoted_value(std::string_view& text) {
  std::string value;
  for (size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '"') {
      text.remove_prefix(i + 1);
      return value;
    }
    const bool escapes =
        text[i] == '\\' && i + 1 < text.size() && (text[i + 1] == '"' || text[i + 1] == '\\');
    value += text[escapes ? ++i : i];
  }
  fail("{}a quote has no end", kNoForm);
}

/// `; name=value; name="value"`, in any order.
Parameters parameters_of(std::string_view text) {
  Parameters all;
  while (!(text = trimmed(text)).empty()) {
    if (text.front() != ';') fail("{}a ';' is missing before a parameter", kNoForm);
    text = trimmed(text.substr(1));
    if (text.empty() || text.front() == ';') continue;
    const size_t sign = text.find_first_of("=;");
    if (sign == text.npos || text[sign] == ';') fail("{}a parameter has no value", kNoForm);
    const std::string name(trimmed(text.substr(0, sign)));
    text = trimmed(text.substr(sign + 1));
    std::string value;
    if (text.starts_with('"')) {
      value = quoted_value(text);
    } else {
      const size_t end = std::min(text.find(';'), text.size());
      value = trimmed(text.substr(0, end));
      text.remove_prefix(end);
    }
    if (!all.emplace(name, std::move(value)).second) {
      fail("{}the parameter '{}' of a part stands twice", kNoForm, printable(name));
    }
  }
  return all;
}

int hex_digit(char c) {
  return c >= '0' && c <= '9'                 ? c - '0'
         : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10
                                              : -1;
}

/// UTF-8''a%20name (RFC 5987).
std::string extended_value(std::string_view text) {
  const size_t language = text.find('\''), value = text.find('\'', language + 1);
  if (language == text.npos || value == text.npos) fail("{}'filename*' has no charset", kNoForm);
  text.remove_prefix(value + 1);
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    const int high = text[i] == '%' && i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
    const int low = high < 0 ? -1 : hex_digit(text[i + 2]);
    decoded += low < 0 ? text[i] : char(high * 16 + low);
    if (low >= 0) i += 2;
  }
  return decoded;
}

/// None: a part with these parameters is a field.
std::optional<std::string> file_name(const Parameters& part) {
  if (part.contains("filename*")) return extended_value(part.at("filename*"));
  if (part.contains("filename")) return part.at("filename");
  return {};
}

}  // namespace

std::optional<std::string> boundary_of_form(std::string_view content_type) {
  const size_t end = std::min(content_type.find(';'), content_type.size());
  if (!same_word(trimmed(content_type.substr(0, end)), "multipart/form-data")) return {};
  Parameters parameters = parameters_of(content_type.substr(end));
  std::string& boundary = parameters["boundary"];
  constexpr size_t kMost = 70;  // RFC 2046
  if (boundary.empty() || boundary.size() > kMost) {
    fail("{}its boundary must have 1 to {} characters", kNoForm, kMost);
  }
  return std::move(boundary);
}

bool FormReader::take(std::string_view bytes) {
  held_.append(bytes);
  rest_ = held_;
  while (status_ == 0 && step()) continue;
  held_.erase(0, held_.size() - rest_.size());
  return status_ == 0;
}

bool FormReader::end() {
  if (status_ != 0 || state_ == State::kEnd) return status_ == 0;
  return refuse(400, std::string(kNoForm) + "it has no end");
}

bool FormReader::step() {
  switch (state_) {
    case State::kContent:
      return take_content();
    case State::kAfterDelimiter:
      return take_line_end();
    case State::kHead:
      return take_head();
    case State::kEnd:  // what follows a form means nothing
      rest_ = {};
      return false;
  }
  return false;
}

bool FormReader::take_content() {
  const size_t at = rest_.find(delimiter_);
  // The end may be the beginning of a delimiter.
  const size_t known = at != rest_.npos                   ? at
                       : rest_.size() < delimiter_.size() ? 0
                                                          : rest_.size() - delimiter_.size() + 1;
  if (content_) content_->append(rest_.substr(0, known));
  rest_.remove_prefix(known);
  if (at == rest_.npos) return false;
  rest_.remove_prefix(delimiter_.size());
  state_ = State::kAfterDelimiter;
  return true;
}

bool FormReader::take_line_end() {
  if (rest_.size() < 2) return false;
  if (rest_.starts_with("--")) {
    state_ = State::kEnd;
  } else if (rest_.starts_with("\r\n")) {
    state_ = State::kHead;  // whose first line this is the end before
  } else {
    return refuse(400, std::string(kNoForm) + "its boundary is followed by something");
  }
  return true;
}

bool FormReader::take_head() {
  constexpr std::string_view kEmptyLine = "\r\n\r\n";
  const size_t end = rest_.substr(0, kMostHead).find(kEmptyLine, searched_);
  if (end == rest_.npos) {
    searched_ = rest_.size() - std::min(rest_.size(), kEmptyLine.size() - 1);
    return rest_.size() >= kMostHead &&
           refuse(431, "the headers of a part of this form are too long");
  }
  searched_ = 0;
  const std::string_view head = rest_.substr(0, end);
  rest_.remove_prefix(end + kEmptyLine.size());
  state_ = State::kContent;
  return start_part(head);
}

bool FormReader::start_part(std::string_view head) {
  try {
    std::optional<Parameters> found;
    while (!head.empty()) {
      std::string_view value = cut(head, "\r\n");
      const std::string_view name = cut(value, ":");
      if (!same_word(trimmed(name), "Content-Disposition")) continue;
      if (found) fail("{}a part has two dispositions", kNoForm);
      const size_t end = std::min(value.find(';'), value.size());
      if (!same_word(trimmed(value.substr(0, end)), "form-data")) {
        fail("{}a part is none", kNoForm);
      }
      found = parameters_of(value.substr(end));
    }
    if (!found) fail("{}a part does not say what it is", kNoForm);
    if (const auto file = file_name(*found)) {
      into_.files.push_back({*file, {}});
      content_ = &into_.files.back().content;
    } else if (found->contains("name")) {
      content_ = &into_.parameters.emplace(found->at("name"), std::string())->second;
    } else {
      fail("{}a part has no name", kNoForm);
    }
  } catch (const Error& error) {
    return refuse(400, error.what());
  }
  if (into_.files.size() > most_files_ || into_.parameters.size() > kMostFields) {
    return refuse(413, {});
  }
  return true;
}

bool FormReader::refuse(int status, std::string why) {
  status_ = status;
  why_ = std::move(why);
  return false;
}

}  // namespace sact::serve
