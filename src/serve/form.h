// Forms (multipart/form-data, RFC 7578), read as they come. The time is linear in their bytes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "serve/http.h"

namespace sact::serve {

/// What stands between the parts of a form with this Content-Type; none: it is no form. sact::Error
/// where a form does not say.
std::optional<std::string> boundary_of_form(std::string_view content_type);

/// Puts the files of a form and its fields into a request.
class FormReader {
 public:
  static constexpr size_t kMostHead = 4096;  // bytes of the headers of one part
  static constexpr size_t kMostFields = 64;

  FormReader(const std::string& boundary, size_t most_files, HttpRequest& into)
      : delimiter_("\r\n--" + boundary), most_files_(most_files), into_(into) {}

  /// Takes the bytes that come next. False: this is no form, or too large; status() and why() tell.
  bool take(std::string_view bytes);
  /// Says that no more bytes come. False: that was no whole form.
  bool end();
  int status() const { return status_; }
  const std::string& why() const { return why_; }

 private:
  enum class State { kContent, kAfterDelimiter, kHead, kEnd };

  /// One step of `rest_`. False: more bytes are needed, or the form is refused.
  bool step();
  bool take_content();
  bool take_line_end();
  bool take_head();
  /// What a part with these headers is.
  bool start_part(std::string_view head);
  bool refuse(int status, std::string why);

  const std::string delimiter_;
  const size_t most_files_;
  HttpRequest& into_;
  State state_ = State::kContent;
  std::string* content_ = nullptr;  // of the part that is read; what precedes the first is left out
  std::string held_ = "\r\n";       // what cannot be told yet; a form may begin with its delimiter
  std::string_view rest_;           // of `held_`
  size_t searched_ = 0;             // bytes of a part's headers in which they do not end
  int status_ = 0;
  std::string why_;
};

}  // namespace sact::serve
