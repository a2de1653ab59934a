#include "import/source.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/file.h"
#include "import/zip_records.h"
#include "model/model_file.h"

namespace sact::importing {
namespace {

std::filesystem::path file_in(const std::filesystem::path& directory) {
  for (const char* name : {"model.json", "model.safetensors"}) {
    if (std::filesystem::is_regular_file(directory / name)) return directory / name;
  }
  fail("{}: is a directory without a model.json or model.safetensors; name the file to import",
       directory.string());
}

bool starts_with(std::span<const std::byte> bytes, std::string_view text) {
  return bytes.size() >= text.size() && std::memcmp(bytes.data(), text.data(), text.size()) == 0;
}

bool looks_like_json(std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()),
                              std::min<size_t>(bytes.size(), 4096));
  const size_t first = text.find_first_not_of(" \t\r\n");
  return first != text.npos && text[first] == '{';
}

}  // namespace

Source open_source(const std::filesystem::path& given) {
  const auto path = std::filesystem::is_directory(given) ? file_in(given) : given;
  constexpr size_t kEnough = 4096;  // to tell the formats apart
  const std::vector<std::byte> bytes = read_beginning(path, kEnough);
  if (is_zip(bytes)) return open_torch_file(path);
  if (starts_with(bytes, "\x89HDF")) {
    fail(
        "{}: is an HDF5 file; convert it with tensorflowjs_converter --input_format keras, and "
        "import the model.json",
        path.string());
  }
  if (starts_with(bytes, "\x80\x02\x8a\x0a")) {
    fail(
        "{}: was written by a torch.save() of before PyTorch 1.6; load it with a newer one and "
        "save "
        "it again: torch.save(torch.load(FILE, map_location='cpu'), FILE)",
        path.string());
  }
  if (looks_like_json(bytes)) return open_tfjs(path);
  if (bytes.size() > 9 && char(bytes[8]) == '{') return open_safetensors(path);
  fail(
      "{}: is none of the files that can be imported: safetensors, what torch.save() writes (.pth, "
      ".pt), and the model.json of a TensorFlow.js layers model",
      path.string());
}

Source open_safetensors(const std::filesystem::path& path) {
  auto file = std::make_shared<io::SafetensorsFile>(path);
  if (file->metadata().contains(kSpecKey)) {
    fail(
        "{}: is a model of sact already; 'sact export' writes it anew with other input values, "
        "labels or types",
        path.string());
  }
  Source source;
  source.name = path.string();
  source.format = "safetensors";
  source.tensors = file->tensors();
  source.memory = file;
  source.files = {path};
  return source;
}

}  // namespace sact::importing
