#include "import/pickle.h"

#include <bit>
#include <cstring>
#include <map>

#include "base/error.h"

namespace sact::importing {
namespace {

using Value = PickleValue;
using Kind = PickleValue::Kind;

class Machine {
 public:
  Machine(std::span<const std::byte> bytes, const std::string& name,
          std::vector<std::unique_ptr<Value>>& values)
      : bytes_(bytes), name_(name), values_(values) {}

  const Value* run() {
    while (true) {
      const auto code = take<uint8_t>();
      if (code == '.') return pop();
      if (!constant(code) && !container(code) && !object(code) && !memory(code)) {
        fail("{}: its pickle has the instruction 0x{:02x} at byte {}, which is not known here",
             name_, code, position_ - 1);
      }
    }
  }

 private:
  [[noreturn]] void damaged() const {
    fail("{}: its pickle makes no sense near byte {}; the file is damaged", name_, position_);
  }

  template <typename T>
  T take() {
    T value;
    std::memcpy(&value, take_bytes(sizeof value).data(), sizeof value);
    return value;
  }
  std::span<const std::byte> take_bytes(uint64_t count) {
    if (count > bytes_.size() - position_) {
      fail("{}: its pickle ends at byte {}, in the middle of something; it was probably cut short",
           name_, bytes_.size());
    }
    const auto part = bytes_.subspan(position_, size_t(count));
    position_ += size_t(count);
    return part;
  }
  std::string take_text(uint64_t count) {
    const auto bytes = take_bytes(count);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  std::string take_line() {
    std::string line;
    for (char c = take<char>(); c != '\n'; c = take<char>()) line += c;
    return line;
  }

  Value* make(Kind kind) {
    values_.push_back(std::make_unique<Value>());
    values_.back()->kind = kind;
    return values_.back().get();
  }
  bool push(Value* value) {
    stack_.push_back(value);
    return true;
  }
  bool push(Kind kind) { return push(make(kind)); }
  bool push_integer(int64_t number) {
    push(Kind::kInteger);
    stack_.back()->integer = number;
    return true;
  }
  bool push_text(std::string text, Kind kind = Kind::kText) {
    push(kind);
    stack_.back()->text = std::move(text);
    return true;
  }
  Value* pop() {
    // What lies below the last mark is not to be taken without taking the mark.
    if (stack_.empty() || (!marks_.empty() && stack_.size() <= marks_.back())) damaged();
    Value* value = stack_.back();
    stack_.pop_back();
    return value;
  }
  std::vector<Value*> pop_to_mark() {
    if (marks_.empty() || marks_.back() > stack_.size()) damaged();
    std::vector<Value*> values(stack_.begin() + ptrdiff_t(marks_.back()), stack_.end());
    stack_.resize(marks_.back());
    marks_.pop_back();
    return values;
  }

  bool constant(uint8_t code) {
    switch (code) {
      case 'N':
        return push(Kind::kNone);
      case 0x88:
      case 0x89:
        push(Kind::kBool);
        stack_.back()->integer = code == 0x88;
        return true;
      case 'J':
        return push_integer(take<int32_t>());
      case 'K':
        return push_integer(take<uint8_t>());
      case 'M':
        return push_integer(take<uint16_t>());
      case 0x8a:
        return push_integer(long_integer(take<uint8_t>()));
      case 'G': {
        push(Kind::kReal);
        stack_.back()->real = std::bit_cast<double>(__builtin_bswap64(take<uint64_t>()));
        return true;
      }
      case 'X':
      case 'T':
      case 'B':
        return push_text(take_text(take<uint32_t>()));
      case 0x8c:
      case 'U':
      case 'C':
        return push_text(take_text(take<uint8_t>()));
      default:
        return false;
    }
  }

  /// Little-endian, in two's complement; longer numbers than 64 bits are no sizes of anything.
  int64_t long_integer(size_t count) {
    const auto bytes = take_bytes(count);
    if (count > sizeof(int64_t)) return 0;
    uint64_t number = 0;
    for (size_t i = 0; i < count; ++i) number |= uint64_t(bytes[i]) << (8 * i);
    const size_t unused = 64 - 8 * count;
    return count == 0 ? 0 : int64_t(number << unused) >> unused;
  }

  bool container(uint8_t code) {
    switch (code) {
      case '(':
        marks_.push_back(stack_.size());
        return true;
      case ')':
        return push(Kind::kTuple);
      case ']':
      case 0x8f:
        return push(Kind::kList);
      case '}':
        return push(Kind::kDictionary);
      case 't': {
        const std::vector<Value*> items = pop_to_mark();
        return push_tuple({items.begin(), items.end()});
      }
      case 0x85:
      case 0x86:
      case 0x87: {
        std::vector<const Value*> items(code - 0x84u);
        for (size_t i = items.size(); i-- > 0;) items[i] = pop();
        return push_tuple(std::move(items));
      }
      case 'a':
        return append({pop()});
      case 'e':
      case 0x90:
        return append(pop_to_mark());
      case 's': {
        Value* value = pop();
        return set_items({pop(), value});
      }
      case 'u':
        return set_items(pop_to_mark());
      default:
        return false;
    }
  }
  bool push_tuple(std::vector<const Value*> items) {
    push(Kind::kTuple);
    stack_.back()->items = std::move(items);
    return true;
  }
  bool append(const std::vector<Value*>& values) {
    if (stack_.empty()) damaged();
    std::vector<const Value*>& items = stack_.back()->items;
    items.insert(items.end(), values.begin(), values.end());
    return true;
  }
  bool set_items(const std::vector<Value*>& values) {
    if (stack_.empty() || values.size() % 2 != 0) damaged();
    for (size_t i = 0; i < values.size(); i += 2) {
      stack_.back()->entries.emplace_back(values[i], values[i + 1]);
    }
    return true;
  }

  bool object(uint8_t code) {
    switch (code) {
      case 'c': {
        const std::string module = take_line();
        return push_class(module, take_line());
      }
      case 0x93: {
        const Value *name = pop(), *module = pop();
        return push_class(module->text, name->text);
      }
      case 'R':
      case 0x81: {
        const Value *arguments = pop(), *maker = pop();
        if (maker->text == "collections.OrderedDict") return push(Kind::kDictionary);
        push(Kind::kObject);
        stack_.back()->items = {maker, arguments};
        return true;
      }
      case 'b':  // attributes: of a state dict the versions of its modules, of others no matter
        pop();
        return !stack_.empty();
      case 'Q': {
        const Value* key = pop();
        push(Kind::kPersistent);
        stack_.back()->items = {key};
        return true;
      }
      default:
        return false;
    }
  }

  bool push_class(const std::string& module, const std::string& name) {
    constexpr size_t kLongest = 200;  // a text may be used again and again: copies must be small
    if (module.size() + name.size() > kLongest) damaged();
    return push_text(module + "." + name, Kind::kClass);
  }

  bool memory(uint8_t code) {
    switch (code) {
      case 0x80:
        take<uint8_t>();  // the version of the format
        return true;
      case 0x95:
        take<uint64_t>();  // how many bytes follow
        return true;
      case 'q':
        return remember(take<uint8_t>());
      case 'r':
        return remember(take<uint32_t>());
      case 0x94:
        return remember(memo_.size());
      case 'h':
        return recall(take<uint8_t>());
      case 'j':
        return recall(take<uint32_t>());
      case '0':
        pop();
        return true;
      case '2':
        if (stack_.empty()) damaged();
        return push(stack_.back());
      default:
        return false;
    }
  }
  bool remember(uint64_t place) {
    if (stack_.empty()) damaged();
    memo_[place] = stack_.back();
    return true;
  }
  bool recall(uint64_t place) {
    const auto found = memo_.find(place);
    if (found == memo_.end()) damaged();
    return push(found->second);
  }

  std::span<const std::byte> bytes_;
  const std::string& name_;
  std::vector<std::unique_ptr<Value>>& values_;
  size_t position_ = 0;
  std::vector<Value*> stack_;
  std::vector<size_t> marks_;
  std::map<uint64_t, Value*> memo_;
};

}  // namespace

Pickle::Pickle(std::span<const std::byte> bytes, const std::string& name)
    : value_(Machine(bytes, name, values_).run()) {}

}  // namespace sact::importing
