// What programs that were compiled with the library count on: abi.txt has it for this SACT_ABI.
// More may come; whatever goes or changes needs another SACT_ABI (CMakeLists.txt). The list, with
// what has come, is written by
//   SACT_WRITE_ABI=1 api_test --gtest_filter=Abi.*
#include <gtest/gtest.h>
#include <sact/c.h>
#include <sact/sact.h>

#include <cstdlib>
#include <set>
#include <sstream>
#include <typeinfo>

#include "api/headers.h"
#include "support/program.h"

namespace sact {
namespace {

using test::Declared;
using Lines = std::set<std::string>;

std::string size_line(const char* type, size_t size) {
  return std::string("size ") + type + " " + std::to_string(size);
}

template <typename Type, typename Field>
std::string field_line(const char* type, const char* name, Field Type::*field) {
  const Type one{};
  const auto address = [](const auto& of) { return reinterpret_cast<uintptr_t>(&of); };
  return std::string("field ") + type + "::" + name + " at " +
         std::to_string(address(one.*field) - address(one)) + ", " + typeid(Field).name();
}

#define SIZE(type) size_line(#type, sizeof(type))
#define FIELD(type, name) field_line(#type, #name, &type::name)

const Lines& layout() {
  // clang-format off
  static const Lines all = {
      SIZE(Image), SIZE(Model), SIZE(Session), SIZE(Result), SIZE(Detector), SIZE(Detections),
          SIZE(Error), SIZE(Cancelled),
      SIZE(Box), FIELD(Box, x0), FIELD(Box, y0), FIELD(Box, x1), FIELD(Box, y1),
      SIZE(DetectOptions), FIELD(DetectOptions, score), FIELD(DetectOptions, most),
          FIELD(DetectOptions, boxes), FIELD(DetectOptions, all_boxes),
      SIZE(DetectedObject), FIELD(DetectedObject, box), FIELD(DetectedObject, index),
          FIELD(DetectedObject, label), FIELD(DetectedObject, score),
      SIZE(DetectorTimes), FIELD(DetectorTimes, scale), FIELD(DetectorTimes, extractor),
          FIELD(DetectorTimes, proposals), FIELD(DetectorTimes, crops),
          FIELD(DetectorTimes, boxes), FIELD(DetectorTimes, rest),
      SIZE(ImageView), FIELD(ImageView, data), FIELD(ImageView, width), FIELD(ImageView, height),
          FIELD(ImageView, stride), FIELD(ImageView, order),
      SIZE(NetworkInput), FIELD(NetworkInput, height), FIELD(NetworkInput, width),
          FIELD(NetworkInput, planes),
      SIZE(ModelOptions), FIELD(ModelOptions, isa), FIELD(ModelOptions, precision),
          FIELD(ModelOptions, exact), FIELD(ModelOptions, device),
      SIZE(InputOptions), FIELD(InputOptions, size), FIELD(InputOptions, whole),
      SIZE(Work), FIELD(Work, halting_shift), FIELD(Work, budget), FIELD(Work, hard_budget),
      SIZE(RunOptions), FIELD(RunOptions, input), FIELD(RunOptions, work),
          FIELD(RunOptions, cancelled), FIELD(RunOptions, progress),
      SIZE(SessionOptions), FIELD(SessionOptions, threads), FIELD(SessionOptions, batch),
          FIELD(SessionOptions, work),
      SIZE(SaliencyOptions), FIELD(SaliencyOptions, size), FIELD(SaliencyOptions, blur),
          FIELD(SaliencyOptions, center_weight), FIELD(SaliencyOptions, center_sigma),
      SIZE(ClassScore), FIELD(ClassScore, index), FIELD(ClassScore, label),
          FIELD(ClassScore, score),
      SIZE(RunTimes), FIELD(RunTimes, prepare), FIELD(RunTimes, network),
      SIZE(Map), FIELD(Map, height), FIELD(Map, width), FIELD(Map, values),
      SIZE(BlockResult), FIELD(BlockResult, ponder_cost), FIELD(BlockResult, units),
      SIZE(sact_error), FIELD(sact_error, text),
      SIZE(sact_image_view), FIELD(sact_image_view, data), FIELD(sact_image_view, width),
          FIELD(sact_image_view, height), FIELD(sact_image_view, stride),
          FIELD(sact_image_view, order),
      SIZE(sact_image_options), FIELD(sact_image_options, max_pixels),
          FIELD(sact_image_options, name),
      SIZE(sact_model_options), FIELD(sact_model_options, precision),
          FIELD(sact_model_options, exact), FIELD(sact_model_options, isa),
          FIELD(sact_model_options, device),
      SIZE(sact_input_options), FIELD(sact_input_options, size), FIELD(sact_input_options, whole),
      SIZE(sact_work), FIELD(sact_work, halting_shift), FIELD(sact_work, budget),
          FIELD(sact_work, hard_budget),
      SIZE(sact_session_options), FIELD(sact_session_options, threads),
          FIELD(sact_session_options, batch), FIELD(sact_session_options, work),
      SIZE(sact_run_options), FIELD(sact_run_options, input), FIELD(sact_run_options, work),
          FIELD(sact_run_options, cancelled), FIELD(sact_run_options, progress),
          FIELD(sact_run_options, user),
      SIZE(sact_saliency_options), FIELD(sact_saliency_options, size),
          FIELD(sact_saliency_options, blur), FIELD(sact_saliency_options, center_weight),
          FIELD(sact_saliency_options, center_sigma),
      SIZE(sact_class_score), FIELD(sact_class_score, index), FIELD(sact_class_score, label),
          FIELD(sact_class_score, score),
      SIZE(sact_detect_options), FIELD(sact_detect_options, score),
          FIELD(sact_detect_options, most), FIELD(sact_detect_options, boxes),
          FIELD(sact_detect_options, all_boxes),
      SIZE(sact_object), FIELD(sact_object, x0), FIELD(sact_object, y0), FIELD(sact_object, x1),
          FIELD(sact_object, y1), FIELD(sact_object, index), FIELD(sact_object, label),
          FIELD(sact_object, score),
      SIZE(sact_detector_times), FIELD(sact_detector_times, scale),
          FIELD(sact_detector_times, extractor), FIELD(sact_detector_times, proposals),
          FIELD(sact_detector_times, crops), FIELD(sact_detector_times, boxes),
          FIELD(sact_detector_times, rest),
  };
  // clang-format on
  return all;
}

TEST(Abi, TheListKnowsEveryFieldOfThePublicStructures) {
  for (const auto& all : {test::declared_for_c(), test::declared_for_cpp()}) {
    for (const Declared& declared : all) {
      if (declared.kind != Declared::kField) continue;
      const std::string start = "field " + declared.full_name() + " at ";
      const auto found = layout().lower_bound(start);
      EXPECT_TRUE(found != layout().end() && found->find(start) == 0)
          << declared.full_name() << " is not in layout() of abi_test.cpp";
    }
  }
}

// Other processors and standard libraries have other sizes and symbols.
#if defined(SACT_SHARED) && defined(__x86_64__) && defined(__GLIBCXX__) && _GLIBCXX_USE_CXX11_ABI

const std::string kList = SACT_SOURCE_DIR "/tests/api/abi.txt";
const std::string kVersion = "SACT_ABI " + std::to_string(SACT_ABI);

/// Without the names of parameters.
std::string signature(const std::string& declaration) {
  return std::regex_replace(declaration, std::regex(" \\w+(?=[,)])"), "");
}

Lines declarations() {
  Lines lines;
  for (const Declared& declared : test::declared_for_c()) {
    if (declared.kind == Declared::kFunction) lines.insert("C " + signature(declared.text));
  }
  for (const auto& all : {test::declared_for_c(), test::declared_for_cpp()}) {
    for (const Declared& declared : all) {
      if (declared.kind == Declared::kEnumerator) {
        lines.insert("value " + declared.full_name() + " " + declared.text);
      } else if (declared.kind == Declared::kFunction && !declared.owner.empty()) {
        // Arguments are part of a symbol, and this is not.
        const size_t name = declared.text.find(" " + declared.name + "(");
        lines.insert("result " + declared.full_name() + " " + declared.text.substr(0, name));
      }
    }
  }
  return lines;
}

/// Those that a program can ask for: no constructors from what is private.
Lines symbols() {
  const auto run = test::Running({SACT_NM, {"-D", "--defined-only", SACT_SHARED}}).wait();
  EXPECT_EQ(run.status, 0) << run.err;
  Lines lines;
  std::istringstream rows(run.out);
  const std::regex row("[0-9a-f]+ [TV] ([^@]+)(@.*)?");
  std::smatch match;
  for (std::string line; std::getline(rows, line);) {
    if (!std::regex_match(line, match, row)) continue;
    const std::string name = match[1];
    if (name.find("3api") == std::string::npos && name.find("2io") == std::string::npos) {
      lines.insert("symbol " + name);
    }
  }
  return lines;
}

Lines listed() {
  Lines lines;
  std::ifstream file(kList);
  for (std::string line; std::getline(file, line);) lines.insert(line);
  return lines;
}

TEST(Abi, ProgramsThatWereCompiledWithThisVersionStillRun) {
  Lines now = {kVersion};
  for (const Lines& part : {layout(), declarations(), symbols()}) {
    now.insert(part.begin(), part.end());
  }
  EXPECT_GT(now.size(), 300u);
  const Lines before = listed();
  if (before.count(kVersion)) {  // otherwise it was raised: everything may change
    for (const std::string& line : before) {
      EXPECT_TRUE(now.count(line)) << "gone or changed: " << line
                                   << "\nraise SACT_ABI in CMakeLists.txt, and SACT_ABI_VERSION in "
                                      "sact/c.h with it, or keep what there was";
    }
  }
  if (std::getenv("SACT_WRITE_ABI") && !HasFailure()) {
    std::ofstream file(kList);
    for (const std::string& line : now) file << line << "\n";
  }
  EXPECT_TRUE(listed().count(kVersion))
      << "SACT_ABI was raised: write tests/api/abi.txt again, as abi_test.cpp says";
}
#endif

}  // namespace
}  // namespace sact
