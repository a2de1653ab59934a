// Reading and writing safetensors files.
#include "io/safetensors.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <thread>

#include "base/random.h"
#include "io/checksum.h"
#include "support/errors.h"
#include "support/safetensors_bytes.h"
#include "support/temporary.h"

namespace sact::io {
namespace {

template <typename T>
NamedTensor tensor(const std::string& name, Dtype dtype, Shape shape,
                   const std::vector<T>& values) {
  return {name, {dtype, std::move(shape), std::as_bytes(std::span(values))}};
}

TEST(Safetensors, ReadsAFileWrittenByHand) {
  const auto bytes = test::safetensors_bytes(
      R"({"__metadata__":{"k":"v"},"b":{"dtype":"U8","shape":[2],"data_offsets":[4,6]},)"
      R"("a":{"dtype":"I16","shape":[1,2],"data_offsets":[0,4]}}   )",
      6);
  const Safetensors content = parse_safetensors(bytes, "x");
  EXPECT_EQ(content.metadata.at("k"), "v");
  ASSERT_EQ(content.tensors.size(), 2u);
  const TensorView& a = content.tensors.at("a");
  EXPECT_EQ(a.dtype, Dtype::kI16);
  EXPECT_EQ(a.shape, (Shape{1, 2}));
  EXPECT_EQ(a.elements(), 2);
  EXPECT_EQ(a.bytes.read()[1], std::byte(37));
  EXPECT_EQ(content.tensors.at("b").bytes.read()[0], std::byte(148));
}

TEST(Safetensors, UnknownFieldsOfATensorArePassedOver) {
  for (const char* value :
       {"1", "-1", "1.5", "\"F16\"", "null", "true", "[]", "{}",
        R"([1,{"dtype":"F16","shape":[[9]]},[]])", R"({"shape":{"a":[null]}})"}) {
    SCOPED_TRACE(value);
    const std::string unknown = std::string(R"("note":)") + value;
    const auto bytes =
        test::safetensors_bytes("{\"a\":{" + unknown + R"(,"dtype":"U8","shape":[2],)" + unknown +
                                    R"(,"data_offsets":[0,2],)" + unknown +
                                    R"(},"b":{"dtype":"U8","shape":[1],"data_offsets":[2,3]}})",
                                3);
    const Safetensors content = parse_safetensors(bytes, "x");
    EXPECT_EQ(content.tensors.at("a").shape, Shape{2});
    EXPECT_EQ(content.tensors.at("a").dtype, Dtype::kU8);
    EXPECT_EQ(content.tensors.at("b").bytes.read()[0], std::byte(74));
  }
}

TEST(Safetensors, RoundTripKeepsEverything) {
  test::TemporaryDirectory directory;
  const std::vector<float> f = {1.5f, -2, 3e-30f};
  const std::vector<int64_t> i = {INT64_MIN, -1, 0, INT64_MAX};
  const std::vector<uint16_t> h = {0x3c00, 0x7bff};
  const std::vector<uint8_t> none;
  const std::vector<float> one = {4};
  const std::vector<NamedTensor> all = {
      tensor("h", Dtype::kF16, {2}, h), tensor("f", Dtype::kF32, {3, 1}, f),
      tensor("i", Dtype::kI64, {2, 2}, i), tensor("empty", Dtype::kBool, {0, 7}, none),
      tensor("scalar", Dtype::kF32, {}, one)};
  write_safetensors(directory / "t", all, {{"note", "ünï \"quoted\""}});

  const SafetensorsFile file(directory / "t");
  EXPECT_EQ(file.metadata().at("note"), "ünï \"quoted\"");
  ASSERT_EQ(file.tensors().size(), all.size());
  for (const NamedTensor& expected : all) {
    const TensorView* found = file.find(expected.name);
    ASSERT_TRUE(found) << expected.name;
    EXPECT_EQ(found->dtype, expected.view.dtype);
    EXPECT_EQ(found->shape, expected.view.shape);
    EXPECT_EQ(found->bytes.read(), expected.view.bytes.read());
    EXPECT_EQ(found->bytes.offset() % dtype_size(found->dtype), 0u)
        << "tensors are aligned to their type";
  }
  EXPECT_EQ(file.find("nothing"), nullptr);
}

TEST(Safetensors, TheChecksumIsThatOfXz) {
  const std::string digits = "123456789";
  EXPECT_EQ(crc64(std::as_bytes(std::span(digits))), 0x995dc9bbdf1939fau);
  const auto rest = std::as_bytes(std::span(digits)).subspan(4);
  EXPECT_EQ(crc64(rest, crc64(std::as_bytes(std::span(digits)).first(4))), 0x995dc9bbdf1939fau);
}

TEST(Safetensors, EveryFlippedBitOfASummedFileIsFound) {
  test::TemporaryDirectory directory;
  const std::vector<float> f = {1.5f, -2, 3e-30f};
  const std::vector<NamedTensor> all = {tensor("f", Dtype::kF32, {3}, f)};
  const Metadata metadata = {{"note", "with \"sact_checksum\":\"0123456789abcdef\" in it"}};
  const auto path = directory / "t", previous = directory / "before";
  write_summed_safetensors(path, previous, all, metadata);
  EXPECT_EQ(SafetensorsFile(path).checksum_holds(), true);
  EXPECT_EQ(SafetensorsFile(path).metadata().at("note"), metadata.at("note"));
  write_safetensors(directory / "plain", all, metadata);
  EXPECT_EQ(SafetensorsFile(directory / "plain").checksum_holds(), std::nullopt);

  std::vector<std::byte> bytes = read_file(path, 1 << 20);
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    bytes[bit / 8] ^= std::byte(1 << bit % 8);
    write_file_atomically(path, bytes, Durability::kUnsynced);
    try {
      EXPECT_NE(SafetensorsFile(path).checksum_holds(), true) << bit;
    } catch (const Error&) {  // it is no such file any more
    }
    bytes[bit / 8] ^= std::byte(1 << bit % 8);
  }
}

/// A model that is copied over while a program reads it.
TEST(Safetensors, AThousandLoadsOfAFileThatIsCutAllTheTimeEndInOrder) {
  test::TemporaryDirectory directory;
  const std::vector<float> values(300'000, 1.25f);
  write_safetensors(directory / "t", std::vector{tensor("f", Dtype::kF32, {300'000}, values)}, {});
  const std::vector<std::byte> whole = read_file(directory / "t", 8 << 20);
  std::atomic<bool> done = false;
  std::thread cutter([&] {
    std::ofstream file(directory / "t", std::ios::in | std::ios::out | std::ios::binary);
    while (!done) {
      for (const size_t size : {whole.size() / 3, size_t{0}}) {
        std::filesystem::resize_file(directory / "t", size);
      }
      file.seekp(0).write(reinterpret_cast<const char*>(whole.data()), long(whole.size())).flush();
    }
  });
  int loads = 0, right = 0;
  for (; loads < 1000; ++loads) {
    try {
      const SafetensorsFile file(directory / "t");
      right += float_values(*file.find("f"), "f").size() == values.size();
    } catch (const Error&) {  // says that it is short, or no such file
    }
  }
  done = true;
  cutter.join();
  EXPECT_EQ(loads, 1000);
  std::printf("%d of %d loads found the whole file\n", right, loads);
}

TEST(Safetensors, AFileWithoutTensorsIsAllowed) {
  EXPECT_TRUE(parse_safetensors(test::safetensors_bytes("{}", 0), "x").tensors.empty());
}

TEST(Safetensors, FloatValuesFromEveryFloatingType) {
  const std::vector<float> values = {0, 1, -0.5f, 1024, 0x1p-14f};
  for (Dtype dtype : {Dtype::kF32, Dtype::kF16, Dtype::kBF16}) {
    const auto bytes = stored_as(values, dtype);
    EXPECT_EQ(bytes.size(), values.size() * dtype_size(dtype));
    EXPECT_EQ(float_values({dtype, {5}, bytes}, "x"), values) << dtype_name(dtype);
    EXPECT_TRUE(stored_as({}, dtype).empty());
  }
  const std::vector<double> wide = {0, 1, -0.5, 1024, 0x1p-14};
  EXPECT_EQ(float_values({Dtype::kF64, {5}, std::as_bytes(std::span(wide))}, "x"), values);
}

TEST(Safetensors, IntegersAreNotTakenForFloats) {
  const std::vector<int64_t> values = {1};
  const TensorView view{Dtype::kI64, {1}, std::as_bytes(std::span(values))};
  EXPECT_NE(test::error_of([&] { float_values(view, "n"); }).find("I64"), std::string::npos);
}

TEST(Safetensors, UnalignedDataIsReadCorrectly) {
  const std::vector<float> value = {42.25f};
  std::string header = R"({"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
  header += std::string(header.size() % 2 == 0 ? 1 : 0, ' ');  // an odd start of the data
  auto bytes = test::safetensors_bytes(header, 4);
  std::memcpy(bytes.data() + bytes.size() - 4, value.data(), 4);
  const auto content = parse_safetensors(bytes, "x");
  EXPECT_EQ(float_values(content.tensors.at("x"), "x"), value);
}

TEST(Safetensors, WritingFailsCleanly) {
  test::TemporaryDirectory directory;
  const auto message =
      test::error_of([&] { write_safetensors(directory / "no/such/dir/t", {}, {}); });
  EXPECT_NE(message.find("no/such/dir/t"), std::string::npos);
}

}  // namespace
}  // namespace sact::io
