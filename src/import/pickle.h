// Python's pickle format, read as data: nothing that a file names is ever called.
//
// A pickle is a program for a small stack machine. The instructions that build numbers, text, lists
// and dictionaries are carried out; an object of a class becomes a record of the class's name and
// of what it was made with, and it is for the reader to know which of these mean something.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace sact::importing {

struct PickleValue {
  enum class Kind {
    kNone,
    kBool,
    kInteger,
    kReal,
    kText,
    kTuple,
    kList,        // and sets
    kDictionary,  // also an OrderedDict
    kClass,       // `text` is its name: "torch.FloatStorage"
    kObject,      // `items`: its class, or the function that made it, and the tuple of arguments
    kPersistent,  // what the pickler left to its owner: a storage; items[0] tells which
  };
  Kind kind = Kind::kNone;
  int64_t integer = 0;
  double real = 0;
  std::string text;  // bytes too
  std::vector<const PickleValue*> items;
  std::vector<std::pair<const PickleValue*, const PickleValue*>> entries;

  bool is(Kind k) const { return kind == k; }
};

class Pickle {
 public:
  /// Throws sact::Error when the bytes are no whole pickle; `name` is used in messages.
  Pickle(std::span<const std::byte> bytes, const std::string& name);

  const PickleValue& value() const { return *value_; }

 private:
  std::vector<std::unique_ptr<PickleValue>> values_;  // values may refer to each other in circles
  const PickleValue* value_ = nullptr;
};

}  // namespace sact::importing
