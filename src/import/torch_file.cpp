// State dicts as torch.save() writes them: a ZIP archive with a pickle and a record for each
// storage.
#include <algorithm>
#include <deque>

#include "base/error.h"
#include "base/file.h"
#include "import/layout.h"
#include "import/pickle.h"
#include "import/source.h"
#include "import/zip_records.h"

namespace sact::importing {
namespace {

using Kind = PickleValue::Kind;

constexpr uint64_t kMaxPickleBytes = 8 << 20;  // that of ResNet-152 has 0.1 MB

struct StorageType {
  std::string_view name;
  io::Dtype dtype;
};
constexpr StorageType kStorageTypes[] = {
    {"torch.FloatStorage", io::Dtype::kF32}, {"torch.DoubleStorage", io::Dtype::kF64},
    {"torch.HalfStorage", io::Dtype::kF16},  {"torch.BFloat16Storage", io::Dtype::kBF16},
    {"torch.LongStorage", io::Dtype::kI64},  {"torch.IntStorage", io::Dtype::kI32},
    {"torch.ShortStorage", io::Dtype::kI16}, {"torch.CharStorage", io::Dtype::kI8},
    {"torch.ByteStorage", io::Dtype::kU8},   {"torch.BoolStorage", io::Dtype::kBool},
};

std::string_view class_of(const PickleValue& value) {
  return value.is(Kind::kObject) && value.items[0]->is(Kind::kClass) ? value.items[0]->text
                                                                     : std::string_view();
}

/// The tensor that a value is, out of the parameter it may be wrapped in; null for anything else.
const PickleValue* as_tensor(const PickleValue& value) {
  const PickleValue* tensor = &value;
  if (class_of(value) == "torch._utils._rebuild_parameter" && !value.items[1]->items.empty()) {
    tensor = value.items[1]->items[0];  // once: a damaged file's may hold each other in a circle
  }
  const std::string_view maker = class_of(*tensor);
  return maker == "torch._utils._rebuild_tensor_v2" || maker == "torch._utils._rebuild_tensor"
             ? tensor
             : nullptr;
}

bool is_state_dict(const PickleValue& value) {
  return value.is(Kind::kDictionary) &&
         std::any_of(value.entries.begin(), value.entries.end(), [](const auto& entry) {
           return entry.first->is(Kind::kText) && as_tensor(*entry.second);
         });
}

/// Owns what the tensors of a source lie in: the file, and copies of those that it holds in an
/// order of their own.
struct TorchMemory {
  explicit TorchMemory(const std::filesystem::path& path) : file(path) {}

  WholeFile file;
  std::deque<std::vector<std::byte>> copies;
};

class StateDictReader {
 public:
  StateDictReader(const std::filesystem::path& path)
      : memory_(std::make_shared<TorchMemory>(path)),
        name_(path.string()),
        records_(zip_records(memory_->file.bytes(), name_)) {
    source_.name = name_;
    source_.format = "PyTorch state dict";
    source_.files = {path};
    source_.memory = memory_;
  }

  Source read() {
    const Pickle pickle(pickle_record(), name_);
    for (const auto& [key, value] : state_dict(pickle.value()).entries) {
      const std::string name = key->is(Kind::kText) ? key->text : "";
      const PickleValue* tensor = as_tensor(*value);
      if (!tensor) {
        source_.ignored.push_back(name);
        continue;
      }
      const auto [place, is_new] = source_.tensors.emplace(name, view(*tensor, name));
      if (!is_new) fail("{}: the name '{}' comes twice", name_, printable(name));
    }
    return std::move(source_);
  }

 private:
  std::span<const std::byte> pickle_record() {
    for (const auto& [record, bytes] : records_) {
      if (!record.ends_with("/data.pkl")) continue;
      folder_ = record.substr(0, record.size() - std::string_view("data.pkl").size());
      const auto code = records_.lower_bound(folder_ + "code/");
      if (code != records_.end() && code->first.starts_with(folder_ + "code/")) {
        fail(
            "{}: is a TorchScript program; save its weights instead: "
            "torch.save(torch.jit.load(FILE).state_dict(), OTHER)",
            name_);
      }
      if (bytes.size() > kMaxPickleBytes) {
        fail("{}: its table of tensors has {} bytes, more than any state dict needs", name_,
             bytes.size());
      }
      return bytes;
    }
    fail("{}: is a ZIP archive, but not one that torch.save() writes: it has no data.pkl", name_);
  }

  /// The dictionary of tensors, which checkpoints keep beside other things.
  const PickleValue& state_dict(const PickleValue& top) {
    if (is_state_dict(top)) return top;
    for (const std::string_view wanted :
         {"state_dict", "model", "model_state_dict", "net", "weights"}) {
      for (const auto& [key, value] : top.entries) {
        if (key->text != wanted || !is_state_dict(*value)) continue;
        for (const auto& other : top.entries) {
          if (other.first != key && other.first->is(Kind::kText)) {
            source_.ignored.push_back(other.first->text);
          }
        }
        return *value;
      }
    }
    const std::string_view whole = class_of(top);
    fail("{}: holds no state dict{}; save one: torch.save(model.state_dict(), FILE)", name_,
         whole.empty() ? "" : fmt::format(" but an object of {}", printable(whole)));
  }

  /// What a storage is made of: ('storage', class, key, device, elements).
  struct Storage {
    io::Dtype dtype = io::Dtype::kF32;
    std::span<const std::byte> bytes;
    int64_t elements() const { return int64_t(bytes.size() / io::dtype_size(dtype)); }
  };

  Storage storage(const PickleValue& value, const std::string& tensor) const {
    const std::vector<const PickleValue*> none;
    const auto& id = value.is(Kind::kPersistent) && value.items[0]->is(Kind::kTuple)
                         ? value.items[0]->items
                         : none;
    if (id.size() < 5 || !id[1]->is(Kind::kClass)) damaged(tensor);
    const auto type = std::find_if(std::begin(kStorageTypes), std::end(kStorageTypes),
                                   [&](const StorageType& t) { return t.name == id[1]->text; });
    if (type == std::end(kStorageTypes)) {
      fail("{}: tensor '{}' is of {}, which is not known here", name_, printable(tensor),
           printable(id[1]->text));
    }
    const auto record = records_.find(folder_ + "data/" + id[2]->text);
    if (record == records_.end()) {
      fail("{}: the values of tensor '{}' are missing: there is no record '{}'", name_,
           printable(tensor), printable(folder_ + "data/" + id[2]->text));
    }
    return {type->dtype, record->second};
  }

  [[noreturn]] void damaged(const std::string& tensor) const {
    fail("{}: tensor '{}' is stored in a form that is not known here", name_, printable(tensor));
  }

  std::vector<int64_t> extents(const PickleValue& tuple, const std::string& tensor) const {
    std::vector<int64_t> values;
    for (const PickleValue* item : tuple.items) {
      if (!item->is(Kind::kInteger) || item->integer < 0) damaged(tensor);
      values.push_back(item->integer);
    }
    return values;
  }

  /// Arguments: storage, offset, size, stride, ...
  io::TensorView view(const PickleValue& value, const std::string& tensor) {
    const auto& arguments = value.items[1]->items;
    if (arguments.size() < 4 || !arguments[1]->is(Kind::kInteger)) damaged(tensor);
    const Storage stored = storage(*arguments[0], tensor);
    const io::Shape shape = extents(*arguments[2], tensor);
    std::vector<int64_t> strides = extents(*arguments[3], tensor);
    const int64_t offset = arguments[1]->integer;
    if (strides.size() != shape.size()) damaged(tensor);
    for (size_t i = 0; i < shape.size(); ++i) {
      if (shape[i] == 1) strides[i] = 0;  // whatever it says, it is never used
    }
    const int64_t elements = checked_elements(stored, shape, strides, offset, tensor);
    const size_t width = io::dtype_size(stored.dtype);
    if (elements == 0) return {stored.dtype, shape, {}};
    if (is_contiguous(shape, strides)) {
      return {stored.dtype, shape,
              stored.bytes.subspan(size_t(offset) * width, size_t(elements) * width)};
    }
    copied_ += uint64_t(elements) * width;
    if (copied_ > memory_->file.bytes().size()) {
      fail("{}: its tensors share their values and would not fit into memory; the file is damaged",
           name_);
    }
    // Saved in another order: channels last, transposed.
    memory_->copies.push_back(gathered(stored.bytes, width, shape, strides, offset));
    return {stored.dtype, shape, memory_->copies.back()};
  }

  /// Every element must lie in the storage, and there must not be more than it holds.
  int64_t checked_elements(const Storage& stored, const io::Shape& shape,
                           const std::vector<int64_t>& strides, int64_t offset,
                           const std::string& tensor) const {
    int64_t elements = 1, last = offset;
    bool fits = offset >= 0;
    for (size_t i = 0; i < shape.size(); ++i) {
      int64_t reach = 0;
      fits = fits && !__builtin_mul_overflow(elements, shape[i], &elements) &&
             !__builtin_mul_overflow(std::max<int64_t>(shape[i] - 1, 0), strides[i], &reach) &&
             !__builtin_add_overflow(last, reach, &last);
    }
    if (fits && elements == 0) return 0;
    if (!fits || last >= stored.elements() || elements > stored.elements()) {
      fail(
          "{}: tensor '{}' of shape {} does not fit into the {} values that are stored for it; the "
          "file is damaged",
          name_, printable(tensor), io::shape_text(shape), stored.elements());
    }
    return elements;
  }

  static bool is_contiguous(const io::Shape& shape, const std::vector<int64_t>& strides) {
    int64_t expected = 1;
    for (size_t i = shape.size(); i-- > 0; expected *= shape[i]) {
      if (shape[i] != 1 && strides[i] != expected) return false;
    }
    return true;
  }

  std::shared_ptr<TorchMemory> memory_;
  std::string name_;
  ZipRecords records_;
  std::string folder_;   // of all records: "archive/"
  uint64_t copied_ = 0;  // bytes of tensors in an order of their own
  Source source_;
};

}  // namespace

Source open_torch_file(const std::filesystem::path& path) {
  return StateDictReader(path).read();
}

}  // namespace sact::importing
