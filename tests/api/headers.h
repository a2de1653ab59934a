// What the public headers declare, found by reading them as text.
#pragma once

#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <vector>

namespace sact::test {

struct Declared {
  enum Kind { kFunction, kInlineFunction, kField, kConstant, kEnumerator };
  Kind kind;
  std::string owner;  // class or enumeration; empty for functions of C
  std::string name;
  std::string text;  // the declaration; of an enumerator its value

  std::string full_name() const { return owner.empty() ? name : owner + "::" + name; }
};

/// Knows as much of the language as these headers use. Constructors, destructors, operators and
/// what is private are left out.
class HeaderReader {
 public:
  explicit HeaderReader(const std::string& name) {
    std::ifstream file(std::string(SACT_SOURCE_DIR "/include/sact/") + name);
    text_.assign(std::istreambuf_iterator<char>(file), {});
    for (const char* left_out : {"/\\*[^]*?\\*/", "//[^\n]*", "(^|\n)#[^\n]*", "extern \"C\" \\{",
                                 "__attribute__\\(\\(.*?\\)\\)\\)"}) {
      text_ = std::regex_replace(text_, std::regex(left_out), "\n");
    }
    read();
  }

  const std::vector<Declared>& found() const { return found_; }

 private:
  struct Scope {
    std::string owner;
    bool is_public = true;
    bool is_enum = false;
    int values = 0;
  };

  void read() {
    scopes_.push_back({});
    int parentheses = 0;
    for (at_ = 0; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      parentheses += (c == '(' || c == '<') - (c == ')' || c == '>');
      const bool outside = parentheses == 0;
      if (outside && c == '{') {
        open();
      } else if (outside && (c == ';' || c == '}' || (c == ',' && scopes_.back().is_enum))) {
        declare(Declared::kFunction);
        if (c == '}' && scopes_.size() > 1) scopes_.pop_back();
      } else if (outside && c == ':' &&
                 std::regex_match(current_, std::regex("\\s*(public|private)"))) {
        scopes_.back().is_public = current_.find("public") != std::string::npos;
        current_.clear();
      } else {
        current_ += c;
      }
    }
  }

  void open() {
    std::smatch match;
    if (std::regex_search(current_, match, std::regex("\\benum\\s+(?:class\\s+)?(\\w+)"))) {
      scopes_.push_back({match[1], scopes_.back().is_public, true});
    } else if (std::regex_search(current_, match, std::regex("\\b(class|struct)\\s+(\\w+)"))) {
      scopes_.push_back({match[2], match[1] == "struct"});
    } else if (std::regex_search(current_, std::regex("\\bnamespace\\b"))) {
      scopes_.push_back({});
    } else {  // a body or an initial value
      for (int depth = 1; depth > 0;) {
        const char c = text_[++at_];
        depth += (c == '{') - (c == '}');
      }
      if (current_.find('(') == std::string::npos) return;
      declare(Declared::kInlineFunction);
    }
    current_.clear();
  }

  void declare(Declared::Kind function) {
    std::string text = std::regex_replace(current_, std::regex("\\s+"), " ");
    text = std::regex_replace(text, std::regex("^ | $"), "");
    current_.clear();
    Scope& scope = scopes_.back();
    if (text.empty() || !scope.is_public) return;
    if (scope.is_enum) return declare_enumerator(text);
    if (std::regex_search(text, std::regex("^(friend|using|typedef|class|struct) |operator|= "
                                           "(delete|default)$"))) {
      return;
    }
    std::string plain = text, before;  // without arguments of templates
    while (plain != before) {
      before = plain;
      plain = std::regex_replace(plain, std::regex("<[^<>]*>"), "");
    }
    std::smatch match;
    if (std::regex_search(plain, match, std::regex("\\(\\*(\\w+)\\)"))) {  // to a function
      add(Declared::kField, match[1], text);
    } else if (std::regex_search(plain, match, std::regex("(~?\\w+)\\("))) {
      if (match[1] != scope.owner && match.str(1)[0] != '~') add(function, match[1], text);
    } else if (!scope.owner.empty()) {
      const auto kind =
          text.find("static ") == 0 ? Declared::Kind::kConstant : Declared::Kind::kField;
      const std::regex name("(\\w+)(\\[\\d+\\])?( =[^,]*)?(,|$)");
      for (std::sregex_iterator each(plain.begin(), plain.end(), name), end; each != end; ++each) {
        add(kind, (*each)[1], text);
      }
    }
  }

  void declare_enumerator(const std::string& text) {
    std::smatch match;
    if (!std::regex_match(text, match, std::regex("(\\w+)( = (\\d+))?"))) return;
    int& value = scopes_.back().values;
    if (match[3].matched) value = std::stoi(match[3]);
    add(Declared::kEnumerator, match[1], std::to_string(value++));
  }

  void add(Declared::Kind kind, const std::string& name, const std::string& text) {
    found_.push_back({kind, scopes_.back().owner, name, text});
  }

  std::string text_, current_;
  size_t at_ = 0;
  std::vector<Scope> scopes_;
  std::vector<Declared> found_;
};

inline std::vector<Declared> declared_for_c() {
  return HeaderReader("c.h").found();
}

inline std::vector<Declared> declared_for_cpp() {
  std::vector<Declared> all;
  for (const char* header : {"box.h", "detector.h", "error.h", "image.h", "model.h", "options.h",
                             "session.h", "types.h"}) {
    const std::vector<Declared> found = HeaderReader(header).found();
    all.insert(all.end(), found.begin(), found.end());
  }
  return all;
}

}  // namespace sact::test
