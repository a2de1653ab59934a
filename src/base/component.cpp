#include "base/component.h"

#include <dlfcn.h>
#include <elf.h>
#include <sys/auxv.h>

#include <cstring>
#include <string_view>
#include <vector>

#include "base/component_mark.h"
#include "base/error.h"
#include "base/file.h"

namespace sact {
namespace {

namespace fs = std::filesystem;

constexpr char kOwnFile[] = "/proc/self/exe";

/// The program that runs, as the system knows it. What it was called with says less: a name without
/// a slash was found in PATH, and a file of that name in the current directory is another.
fs::path program_file() {
  std::error_code error;
  if (const fs::path file = fs::read_symlink(kOwnFile, error); !error) return file;
  // Without /proc: what the kernel was asked to run. This program changes no directory.
  const auto* name = reinterpret_cast<const char*>(::getauxval(AT_EXECFN));
  const fs::path file = name ? fs::canonical(name, error) : fs::path();
  return error || !fs::is_regular_file(file, error) ? fs::path() : file;
}

struct OwnFile {
  fs::path path;  // empty where that cannot be told
  bool library = false;
};

/// The program or library that has this code.
OwnFile own_file() {
  Dl_info here{}, program{};
  if (::dladdr(reinterpret_cast<const void*>(&own_file), &here) == 0) return {};
  const auto* headers = reinterpret_cast<const void*>(::getauxval(AT_PHDR));
  if (!headers || ::dladdr(headers, &program) == 0) return {};
  if (here.dli_fbase == program.dli_fbase) return {program_file()};
  // A library. Whoever loaded it by a relative name may have changed the directory since.
  const fs::path name = here.dli_fname;
  std::error_code error;
  const fs::path file = name.is_absolute() ? fs::canonical(name, error) : fs::path();
  return {error ? fs::path() : file, true};
}

/// Where parts lie, from the file that looks for them: beside it, or where an installation has them
/// (bin/sact or lib/libsact.so or lib/x86_64-linux-gnu/libsact.so: lib/sact). Other folders around
/// it may be anybody's.
std::vector<fs::path> folders_of_parts(const OwnFile& own) {
  const fs::path here = own.path.parent_path();
  const auto holds_libraries = [](const fs::path& folder) {
    return folder.filename().native().starts_with("lib");
  };
  std::vector<fs::path> folders = {here};
  if (!own.library && here.filename() == "bin") folders.push_back(here / "../lib/sact");
  if (own.library && holds_libraries(here)) folders.push_back(here / "sact");
  if (own.library && holds_libraries(here.parent_path())) folders.push_back(here / "../sact");
  return folders;
}

using Bytes = std::span<const std::byte>;

/// A structure of an ELF file at an offset; false where the bytes end before.
template <typename T>
bool read_at(Bytes bytes, uint64_t offset, T& value) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof value) return false;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return true;
}

/// The header of the program that runs: of this processor and this kind of file.
const Elf64_Ehdr* own_header() {
  Dl_info here{};
  return ::dladdr(reinterpret_cast<const void*>(&own_file), &here)
             ? static_cast<const Elf64_Ehdr*>(here.dli_fbase)
             : nullptr;
}

/// The build in the notes of a segment, if they have it.
std::string build_in(Bytes notes) {
  constexpr uint64_t kUnit = 4;
  const auto padded = [](uint64_t bytes) { return (bytes + kUnit - 1) / kUnit * kUnit; };
  Elf64_Nhdr note;
  for (uint64_t at = 0; read_at(notes, at, note);) {
    const uint64_t name = at + sizeof note, text = name + padded(note.n_namesz);
    at = text + padded(note.n_descsz);
    if (at > notes.size()) return {};
    const auto chars = [&](uint64_t from, uint64_t count) {
      return std::string_view(reinterpret_cast<const char*>(notes.data()) + from, size_t(count));
    };
    if (note.n_type == kBuildNoteType &&
        chars(name, note.n_namesz) == std::string_view(kBuildNoteName, sizeof kBuildNoteName)) {
      return std::string(chars(text, note.n_descsz));
    }
  }
  return {};
}

/// What is wrong with a library before anything of it is used; empty when nothing is.
std::string problem_of(const fs::path& path) {
  constexpr size_t kEnough = 1 << 16;  // its headers, and notes, which come right after them
  const std::vector<std::byte> start = read_beginning(path, kEnough);
  const uint64_t size = fs::file_size(path);
  const Elf64_Ehdr* own = own_header();
  Elf64_Ehdr header;
  if (!own || !read_at(start, 0, header) ||
      std::memcmp(header.e_ident, own->e_ident, EI_CLASS) != 0 || header.e_type != ET_DYN) {
    return "is not a library";
  }
  if (std::memcmp(header.e_ident, own->e_ident, EI_VERSION) != 0 ||
      header.e_machine != own->e_machine || header.e_phentsize != sizeof(Elf64_Phdr)) {
    return "is a library for another kind of processor";
  }
  std::string build;
  for (uint64_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    if (!read_at(start, header.e_phoff + i * sizeof segment, segment) || segment.p_offset > size ||
        segment.p_filesz > size - segment.p_offset) {
      return "was cut short";
    }
    if (segment.p_type == PT_NOTE && segment.p_offset + segment.p_filesz <= start.size()) {
      const std::string found =
          build_in(Bytes(start).subspan(size_t(segment.p_offset), size_t(segment.p_filesz)));
      if (!found.empty()) build = found;
    }
  }
  if (build.empty()) return "does not belong to this build of sact: it does not say of which it is";
  if (build != kBuild) {
    return fmt::format("does not belong to this build of sact ({}), but to another ({})", kBuild,
                       printable(build));
  }
  return {};
}

}  // namespace

fs::path find_part(const std::string& name) {
  const OwnFile own = own_file();
  if (own.path.empty()) return {};
  std::error_code error;
  for (const fs::path& folder : folders_of_parts(own)) {
    const fs::path path = (folder / name).lexically_normal();
    if (fs::exists(path, error)) return path;
  }
  return {};
}

std::string why_no_part(const std::string& name) {
  if (!own_file().path.empty()) return name + " is not beside this program";
  return fmt::format(
      "{} is looked for beside this program, and without {} it cannot be told "
      "where that lies",
      name, kOwnFile);
}

void* open_component(const fs::path& path, const std::string& what, const char* symbol) {
  const std::string problem = problem_of(path);
  if (!problem.empty()) {
    fail("{}: {}; install both from one build", path.string(), problem);
  }
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const std::string why = printable(::dlerror(), 300);
    const bool misses = why.find("cannot open shared object file") != why.npos;
    fail("{} cannot be loaded: {}{}", what, why,
         misses ? "; name its folder in LD_LIBRARY_PATH, or tell ldconfig" : "");
  }
  void* address = ::dlsym(library, symbol);
  if (!address) {
    fail("{}: does not belong to this build of sact: it has no {}; install both from one build",
         path.string(), symbol);
  }
  return address;
}

}  // namespace sact
