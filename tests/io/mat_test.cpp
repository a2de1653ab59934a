// Reading MATLAB files, right and damaged ones.
#include "io/mat.h"

#include <sys/resource.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <span>
#include <thread>

#include "base/file.h"
#include "base/random.h"
#include "io/mat_matio.h"
#include "support/errors.h"
#include "support/mat_samples.h"
#include "support/sanitizers.h"
#include "support/temporary.h"

namespace sact::io {
namespace {

using test::error_of;
using test::MatKind;
using test::write_mat;
using test::write_mat_file;
using test::write_variable;

Map sample(int height, int width) {
  Map map(height, width);
  for (size_t i = 0; i < map.values.size(); ++i) map.values[i] = float(i * 7 % 120);
  return map;
}

const MatKind kKinds[] = {{MAT_FT_MAT5, MAT_COMPRESSION_NONE},
                          {MAT_FT_MAT5, MAT_COMPRESSION_ZLIB},
                          {MAT_FT_MAT73, MAT_COMPRESSION_NONE},
                          {MAT_FT_MAT73, MAT_COMPRESSION_ZLIB}};

void expect_same(const Map& read, const Map& written) {
  EXPECT_EQ(read.height, written.height);
  EXPECT_EQ(read.width, written.width);
  EXPECT_EQ(read.values, written.values);
}

/// Without syncing to the disk, for files by the hundred.
void write_bytes(const std::string& path, std::span<const std::byte> bytes) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), std::streamsize(bytes.size()));
}

/// As read_mat(); without a program of its own for MATLAB 5, where files come by the hundred.
Map read_quickly(const std::string& path, const MatKind& kind) {
  return kind.version == MAT_FT_MAT5 ? read_mat_by_matio(path, "values") : read_mat(path, "values");
}

class Mat : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return directory_ / name; }

  test::TemporaryDirectory directory_;
};

TEST_F(Mat, MatricesOfEveryFormatAndTypeAreRead) {
  const Map map = sample(5, 9);
  for (const MatKind& kind : kKinds) {
    SCOPED_TRACE(testing::Message() << "version " << kind.version << " " << kind.compression);
    write_mat<uint8_t>(path("a.mat"), "values", map, kind);
    expect_same(read_mat(path("a.mat"), "values"), map);
    write_mat<double>(path("a.mat"), "values", map, kind);
    expect_same(read_mat(path("a.mat"), "values"), map);
    write_mat<float>(path("a.mat"), "values", map, kind);
    expect_same(read_mat(path("a.mat"), "values"), map);
    write_mat<int16_t>(path("a.mat"), "values", map, kind);
    expect_same(read_mat(path("a.mat"), "values"), map);
  }
}

TEST_F(Mat, TheVariableIsFoundAmongOthers) {
  for (const MatKind& kind : kKinds) {
    write_mat_file(path("a.mat"), kind.version, [&](mat_t* file) {
      write_variable<double>(file, "first", {1, 1}, {4}, kind.compression);
      write_variable<double>(file, "second", {1, 2}, {5, 6}, kind.compression);
    });
    EXPECT_EQ(read_mat(path("a.mat"), "second").values, std::vector<float>({5, 6}));
    const std::string message = error_of([&] { read_mat(path("a.mat"), "fixLocs"); });
    EXPECT_NE(message.find("no variable 'fixLocs'; it has 'first', 'second'"), std::string::npos)
        << message;
  }
}

TEST_F(Mat, OtherVariablesAreRefused) {
  write_mat_file(path("a.mat"), MAT_FT_MAT5, [](mat_t* file) {
    write_variable<double>(file, "cube", {1, 2, 2}, {1, 2, 3, 4}, MAT_COMPRESSION_NONE);
    write_variable<double>(file, "none", {0, 3}, {}, MAT_COMPRESSION_NONE);
    size_t dims[2] = {1, 2};
    char text[] = "ab";
    matvar_t* letters = Mat_VarCreate("letters", MAT_C_CHAR, MAT_T_UINT8, 2, dims, text, 0);
    Mat_VarWrite(file, letters, MAT_COMPRESSION_NONE);
    Mat_VarFree(letters);
    const char* fields[] = {"x", nullptr};
    size_t one[2] = {1, 1};
    matvar_t* structure = Mat_VarCreateStruct2("structure", 2, one, fields);
    Mat_VarWrite(file, structure, MAT_COMPRESSION_NONE);
    Mat_VarFree(structure);
    double real[2] = {1, 2}, imaginary[2] = {3, 4};
    mat_complex_split_t parts{real, imaginary};
    matvar_t* complex =
        Mat_VarCreate("complex", MAT_C_DOUBLE, MAT_T_DOUBLE, 2, dims, &parts, MAT_F_COMPLEX);
    Mat_VarWrite(file, complex, MAT_COMPRESSION_NONE);
    Mat_VarFree(complex);
  });
  const auto expect = [&](const std::string& variable, const std::string& part) {
    const std::string message = error_of([&] { read_mat(path("a.mat"), variable); });
    EXPECT_NE(message.find("'" + variable + "' " + part), std::string::npos) << message;
  };
  expect("cube", "has 3 dimensions");
  expect("none", "is empty (0 x 3)");
  expect("letters", "is text");
  expect("structure", "is a structure");
  expect("complex", "is a complex array");
}

TEST_F(Mat, OtherFilesAreRefused) {
  std::ofstream(path("text.mat")) << std::string(1000, 'x');
  std::ofstream(path("empty.mat"));
  for (const char* name : {"text.mat", "empty.mat"}) {
    const std::string message = error_of([&] { read_mat(path(name), "a"); });
    EXPECT_NE(message.find(name), std::string::npos) << message;
  }
  EXPECT_NE(error_of([&] { read_mat(path("text.mat"), "a"); }).find("MATLAB 5 or 7.3"),
            std::string::npos);
  EXPECT_NE(error_of([&] { read_mat(path("none.mat"), "a"); }).find("none.mat"), std::string::npos);
}

TEST_F(Mat, ATruncatedFileIsRefusedWhereverItEnds) {
  for (const MatKind& kind : kKinds) {
    write_mat<double>(path("whole.mat"), "values", sample(12, 17), kind);
    const std::vector<std::byte> bytes = read_file(path("whole.mat"), 1 << 20);
    const size_t step = kind.version == MAT_FT_MAT5 ? 3 : 199;
    // An HDF5 file may have unused bytes at its end.
    const size_t used = kind.version == MAT_FT_MAT5 ? bytes.size() : bytes.size() * 3 / 4;
    for (size_t length = 0; length < used; length += step) {
      write_bytes(path("cut.mat"), std::span(bytes).first(length));
      SCOPED_TRACE(testing::Message() << "version " << kind.version << " cut to " << length);
      EXPECT_NE(error_of([&] { read_quickly(path("cut.mat"), kind); }).find("cut.mat"),
                std::string::npos);
    }
  }
}

/// Changes one bit at a time of bytes that belong to compressed data: what is read is an error, or,
/// where the bit says nothing, the very same numbers.
void expect_errors_for_damaged_bits(const std::string& path, const std::vector<std::byte>& whole,
                                    size_t first, size_t step, const Map& map,
                                    const MatKind& kind) {
  size_t harmless = 0, bits = 0;
  for (size_t i = first; i < whole.size(); i += step) {
    for (int bit = 0; bit < 8; ++bit, ++bits) {
      SCOPED_TRACE(testing::Message() << "bit " << bit << " of byte " << i);
      std::vector<std::byte> bytes = whole;
      bytes[i] ^= std::byte(1 << bit);
      write_bytes(path, bytes);
      try {
        expect_same(read_quickly(path, kind), map);
        ++harmless;
      } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("damaged.mat"), std::string::npos);
      }
    }
  }
  EXPECT_LT(double(harmless), 0.02 * double(bits));
}

TEST_F(Mat, DamageInCompressedDataIsAnError) {
  const Map map = sample(6, 5);
  const MatKind mat5{MAT_FT_MAT5, MAT_COMPRESSION_ZLIB}, mat73{MAT_FT_MAT73, MAT_COMPRESSION_ZLIB};
  write_mat<double>(path("whole.mat"), "values", map, mat5);
  expect_errors_for_damaged_bits(path("damaged.mat"), read_file(path("whole.mat"), 1 << 20), 128, 1,
                                 map, mat5);
  Map noise(60, 50);
  Random random(1);
  for (float& value : noise.values) value = float(random.uniform());
  write_mat<double>(path("whole.mat"), "values", noise, mat73);
  const std::vector<std::byte> bytes = read_file(path("whole.mat"), 1 << 20);
  ASSERT_GT(bytes.size(), 12'000u) << "most of the file is compressed numbers, at its end";
  expect_errors_for_damaged_bits(path("damaged.mat"), bytes, bytes.size() / 2, 701, noise, mat73);
}

/// A MATLAB 5 file with the one element, compressed, that `plain` holds; `change` is called with
/// the compressed bytes.
template <typename Change>
std::vector<std::byte> with_compressed_element(std::span<const std::byte> plain, Change&& change) {
  const std::span<const std::byte> element = plain.subspan(128);
  uLongf size = compressBound(uLong(element.size()));
  std::vector<std::byte> compressed(size);
  EXPECT_EQ(compress(reinterpret_cast<Bytef*>(compressed.data()), &size,
                     reinterpret_cast<const Bytef*>(element.data()), uLong(element.size())),
            Z_OK);
  compressed.resize(size);
  change(compressed);
  const uint32_t tag[] = {15, uint32_t(compressed.size())};
  std::vector<std::byte> file(128 + sizeof tag + compressed.size());
  std::memcpy(file.data(), plain.data(), 128);
  std::memcpy(file.data() + 128, tag, sizeof tag);
  std::copy(compressed.begin(), compressed.end(), file.begin() + 128 + sizeof tag);
  return file;
}

TEST_F(Mat, CompressedDataMustBeOneWholeMatrix) {
  const Map map = sample(6, 5);
  write_mat<double>(path("plain.mat"), "values", map, {MAT_FT_MAT5, MAT_COMPRESSION_NONE});
  const std::vector<std::byte> plain = read_file(path("plain.mat"), 1 << 20);
  using Bytes = std::vector<std::byte>;
  const auto write = [&](const Bytes& uncompressed, auto change) {
    write_bytes(path("a.mat"), with_compressed_element(uncompressed, change));
  };
  const auto expect_damage = [&](const char* what) {
    EXPECT_NE(error_of([&] { read_mat(path("a.mat"), "values"); }).find("is damaged"),
              std::string::npos)
        << what;
  };
  write(plain, [](Bytes&) {});
  expect_same(read_mat(path("a.mat"), "values"), map);
  write(plain, [](Bytes& bytes) { bytes.resize(bytes.size() - 1); });
  expect_damage("cut short");
  write(plain, [](Bytes& bytes) { bytes.push_back(std::byte(0)); });
  expect_damage("something behind it");
  write(plain, [](Bytes& bytes) { bytes.clear(); });
  expect_damage("nothing");
  Bytes longer = plain;
  longer.resize(plain.size() + 100'000'000);
  write(longer, [](Bytes&) {});
  expect_damage("more than its tag states");
  Bytes shorter = plain;
  shorter.resize(plain.size() - 8);
  write(shorter, [](Bytes&) {});
  expect_damage("less than its tag states");
  Bytes other = plain;
  other[128] = std::byte(9);
  write(other, [](Bytes&) {});
  expect_damage("no matrix");
}

void expect_error_or_matrix(const std::string& path) {
  try {
    EXPECT_FALSE(read_mat(path, "values").values.empty());
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
  }
}

TEST_F(Mat, DamageGivesAnErrorOrAMatrix) {
  for (const MatKind& kind : kKinds) {
    write_mat<double>(path("whole.mat"), "values", sample(6, 5), kind);
    const std::vector<std::byte> whole = read_file(path("whole.mat"), 1 << 20);
    const uint64_t seeds = 60;
    for (uint64_t seed = 0; seed < seeds; ++seed) {
      SCOPED_TRACE(seed);
      Random random(seed);
      std::vector<std::byte> bytes = whole;
      for (int i = 0; i < 3; ++i) {
        bytes[size_t(random.below(int64_t(bytes.size())))] = std::byte(random.below(256));
      }
      write_bytes(path("damaged.mat"), bytes);
      expect_error_or_matrix(path("damaged.mat"));
    }
  }
}

TEST_F(Mat, NoDamageEndsTheProgram) {
  write_mat<double>(path("whole.mat"), "values", sample(60, 50),
                    {MAT_FT_MAT73, MAT_COMPRESSION_ZLIB});
  const std::vector<std::byte> whole = read_file(path("whole.mat"), 1 << 20);
  for (size_t i = 1100; i < 1400; i += 4) {  // HDF5 1.10.8 crashes at 1156
    SCOPED_TRACE(i);
    std::vector<std::byte> bytes = whole;
    bytes[i] ^= std::byte(0x15);
    write_bytes(path("damaged.mat"), bytes);
    expect_error_or_matrix(path("damaged.mat"));
  }
}

/// matio takes memory for the name of a variable before it looks whether the file has that many
/// bytes.
TEST_F(Mat, ALengthInTheFileDoesNotTakeMemoryWithoutBound) {
  write_mat<double>(path("whole.mat"), "values", sample(6, 5), {MAT_FT_MAT5, MAT_COMPRESSION_NONE});
  std::vector<std::byte> bytes = read_file(path("whole.mat"), 1 << 20);
  constexpr size_t kLengthOfName = 172;
  ASSERT_EQ(bytes[kLengthOfName], std::byte(6));
  bytes[kLengthOfName + 3] = std::byte(0xff);
  write_bytes(path("damaged.mat"), bytes);
  EXPECT_NE(error_of([&] { read_mat(path("damaged.mat"), "values"); }).find("is damaged"),
            std::string::npos);
#ifndef SACT_MEMORY_IS_SANITIZED
  rusage children{};
  ::getrusage(RUSAGE_CHILDREN, &children);
  EXPECT_LT(children.ru_maxrss, 1'000'000) << "kilobytes of the program that reads";
#endif
}

/// An element of a MATLAB 5 file, filled up to whole words.
std::string mat5_element(uint32_t type, const std::string& bytes) {
  const uint32_t tag[] = {type, uint32_t(bytes.size())};
  std::string element(reinterpret_cast<const char*>(tag), sizeof tag);
  element += bytes;
  element.append((8 - bytes.size() % 8) % 8, '\0');
  return element;
}

std::string mat5_numbers(std::vector<int32_t> numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), 4 * numbers.size()};
}

std::string mat5_cell_array(int32_t cells, const std::string& name, const std::string& content) {
  constexpr uint32_t kInt8 = 1, kInt32 = 5, kUint32 = 6, kMatrix = 14;
  constexpr int32_t kCellArray = 1;
  return mat5_element(kMatrix, mat5_element(kUint32, mat5_numbers({kCellArray, 0})) +
                                   mat5_element(kInt32, mat5_numbers({cells, 1})) +
                                   mat5_element(kInt8, name) + content);
}

/// Each inner array promises a cell that it does not have, and matio takes the next array for it.
TEST_F(Mat, AFileThatWouldTakeLongIsGivenUp) {
  constexpr int kCells = 15'000;
  std::string cells;
  for (int i = 0; i < kCells; ++i) cells += mat5_cell_array(1, "", "");
  std::string header = "MATLAB 5.0 MAT-file";
  header.resize(124, ' ');
  const std::string file = header + std::string("\0\1IM", 4) + mat5_cell_array(kCells, "a", cells);
  ASSERT_LT(file.size(), 1'000'000u);
  write_bytes(path("slow.mat"), std::as_bytes(std::span(file)));
  rusage before{}, after{};
  ::getrusage(RUSAGE_CHILDREN, &before);
  const std::string message = error_of([&] { read_mat(path("slow.mat"), "values"); });
  ::getrusage(RUSAGE_CHILDREN, &after);
  EXPECT_NE(message.find("slow.mat: takes too long to read"), std::string::npos) << message;
  EXPECT_LE(after.ru_utime.tv_sec - before.ru_utime.tv_sec, 2) << "seconds of the limit";
}

TEST_F(Mat, ThreadsMayReadAtTheSameTime) {
  const Map map = sample(40, 30);
  write_mat<uint8_t>(path("5.mat"), "values", map);
  write_mat<uint8_t>(path("73.mat"), "values", map, {MAT_FT_MAT73, MAT_COMPRESSION_ZLIB});
  std::vector<std::thread> threads;
  std::vector<int> same(4);
  for (size_t t = 0; t < same.size(); ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) {
        same[t] += read_mat(path(t % 2 ? "5.mat" : "73.mat"), "values").values == map.values;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(same, std::vector<int>(4, 20));
}

}  // namespace
}  // namespace sact::io
