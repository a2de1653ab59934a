// The records of a ZIP archive whose files are stored without compression, as torch.save() writes.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>

namespace sact::importing {

using ZipRecords = std::map<std::string, std::span<const std::byte>, std::less<>>;

bool is_zip(std::span<const std::byte> bytes);

/// The archive's files by name; the views point into `bytes`. Throws sact::Error unless every
/// record lies inside the file; `name` is used in messages.
ZipRecords zip_records(std::span<const std::byte> bytes, const std::string& name);

}  // namespace sact::importing
