// The configuration of fontconfig. Left alone, it complains on the terminal where it has no
// configuration of its own or may not write its cache; so does Pango where a font is missing.
#include "report/fonts.h"

#include <fontconfig/fontconfig.h>
#include <glib.h>
#include <unistd.h>

#include <filesystem>
#include <mutex>
#include <string>
#include <system_error>

#include "base/log.h"
#include "report/markup.h"

namespace sact::report {
namespace {

namespace fs = std::filesystem;

constexpr const char* kUsualFolders = R"(<fontconfig>
<dir>/usr/share/fonts</dir><dir>/usr/local/share/fonts</dir><dir prefix="xdg">fonts</dir>
<cachedir>/var/cache/fontconfig</cachedir><cachedir prefix="xdg">fontconfig</cachedir>
</fontconfig>)";

void add_configuration(FcConfig* config, const std::string& xml) {
  FcConfigParseAndLoadFromMemory(config, reinterpret_cast<const FcChar8*>(xml.c_str()), FcFalse);
}

/// The strings of a list, which is freed.
template <typename Visit>
void for_each(FcStrList* list, const Visit& visit) {
  while (const FcChar8* text = FcStrListNext(list)) visit(reinterpret_cast<const char*>(text));
  FcStrListDone(list);
}

bool has_font_folders(FcConfig* config) {
  bool any = false;
  for_each(FcConfigGetFontDirs(config), [&](const char*) { any = true; });
  return any;
}

/// Whether fontconfig can keep what it finds out, in a folder that is there or that can be made.
bool can_write_cache(FcConfig* config) {
  bool any = false;
  for_each(FcConfigGetCacheDirs(config), [&](const char* path) {
    std::error_code ignored;
    if (!any) fs::create_directories(path, ignored);
    any = any || access(path, W_OK) == 0;
  });
  return any;
}

/// A folder of our own that vanishes with this object; empty where none can be made.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::error_code ignored;
    std::string name = (fs::temp_directory_path(ignored) / "sact-fonts-XXXXXX").string();
    if (mkdtemp(name.data())) path_ = name;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

void build_fonts() {
  FcConfig* config = FcConfigCreate();
  FcConfigParseAndLoad(config, nullptr, FcFalse);
  if (!has_font_folders(config)) add_configuration(config, kUsualFolders);
  if (can_write_cache(config)) {
    FcConfigBuildFonts(config);
  } else {
    const ScratchFolder scratch;
    add_configuration(config, "<fontconfig><cachedir>" + escape_markup(scratch.path()) +
                                  "</cachedir></fontconfig>");
    FcConfigBuildFonts(config);
  }
  const FcFontSet* fonts = FcConfigGetFonts(config, FcSetSystem);
  if (!fonts || fonts->nfont == 0) {
    log_warning("no fonts were found, so pictures are without text; install fonts-dejavu-core");
  }
  FcConfigSetCurrent(config);
  FcConfigDestroy(config);
}

void keep_quiet(const gchar*, GLogLevelFlags, const gchar* message, gpointer) {
  log_verbose("text in pictures: {}", message ? message : "");
}

}  // namespace

void prepare_fonts() {
  static std::once_flag once;
  std::call_once(once, [] {
    g_log_set_default_handler(keep_quiet, nullptr);
    build_fonts();
  });
}

}  // namespace sact::report

// What the sanitizers are told about libraries that were not compiled for them.
#ifdef __SANITIZE_ADDRESS__
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libfontconfig\n";  // a little of its configuration, once
}
extern "C" const char* __lsan_default_options() {
  return "print_suppressions=0";
}
#endif
#ifdef __SANITIZE_THREAD__
extern "C" const char* __tsan_default_options() {
  return "ignore_noninstrumented_modules=1";  // GLib's locks are its own
}
#endif
