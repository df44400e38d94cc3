#include "checkpoint/safetensors/safetensors.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "base/philox.h"
#include "checkpoint/huggingface/huggingface.h"
#include "support/temporary_folder.h"

namespace megadlm::checkpoint {
namespace {

using megadlm::testing::error_of;
using megadlm::testing::read_all;
using megadlm::testing::TemporaryFolder;

std::string file_of(const std::string& header, const std::string& data) {
  const uint64_t length = header.size();
  return std::string(reinterpret_cast<const char*>(&length), 8) + header + data;
}

std::string open_error(const TemporaryFolder& folder, const std::string& content) {
  const std::string path = folder.write("x.safetensors", content);
  return error_of([&] { SafetensorsFile file(path); });
}

TEST(Safetensors, EveryTypeComesBackBitForBit) {
  const TemporaryFolder folder;
  std::vector<NamedTensor> tensors;
  for (const auto type : {at::kDouble, at::kFloat, at::kHalf, at::kBFloat16, at::kLong, at::kInt, at::kShort,
                          at::kChar, at::kByte, at::kBool}) {
    tensors.push_back(
        {std::string("t.") + c10::toString(type), at::arange(12).view({3, 4}).remainder(2).to(type)});
  }
  tensors.push_back({"empty", at::empty({0, 4})});
  tensors.push_back({"scalar", at::scalar_tensor(3.5, at::kFloat)});
  tensors.push_back({"transposed", at::arange(6).to(at::kFloat).view({2, 3}).t()});
  write_safetensors(folder.file("a"), tensors, {{"key", "value \"quoted\""}});
  const SafetensorsFile file(folder.file("a"));
  EXPECT_EQ(file.entries().size(), tensors.size());
  EXPECT_EQ(file.metadata().at("key"), "value \"quoted\"");
  for (const auto& [name, tensor] : tensors) {
    EXPECT_EQ(file.tensor(name).scalar_type(), tensor.scalar_type()) << name;
    EXPECT_TRUE(file.tensor(name).equal(tensor)) << name;
  }
  EXPECT_NE(error_of([&] { file.tensor("nothing"); }).find("'nothing'"), std::string::npos);
}

TEST(Safetensors, RefusesFilesThatAreNotWhole) {
  const TemporaryFolder folder;
  const std::string data(48, 'x');
  const std::string entry = R"({"a":{"dtype":"F32","shape":[3,4],"data_offsets":[0,48]}})";
  EXPECT_EQ(open_error(folder, file_of(entry, data)), "");
  EXPECT_NE(open_error(folder, file_of(entry, data.substr(1))).find("cut off"), std::string::npos);
  EXPECT_NE(open_error(folder, file_of(entry, data + "12345678")).find("56 bytes of data"),
            std::string::npos);
  EXPECT_NE(open_error(folder, "").find("0 bytes"), std::string::npos);
  EXPECT_NE(open_error(folder, std::string(7, '\1') + '\x80').find("header"), std::string::npos);
  EXPECT_NE(open_error(folder, file_of("{\"a\":", data)).find("JSON"), std::string::npos);
  EXPECT_NE(open_error(folder, file_of("[]", "")).find("object"), std::string::npos);
  const auto with = [&](const std::string& fields) {
    return open_error(folder, file_of("{\"a\":{" + fields + "}}", data));
  };
  EXPECT_NE(with(R"("dtype":"F32","shape":[3,4],"data_offsets":[0,40])").find("40"), std::string::npos);
  EXPECT_NE(with(R"("dtype":"F77","shape":[3,4],"data_offsets":[0,48])").find("F77"), std::string::npos);
  EXPECT_NE(with(R"("dtype":"F32","shape":[-3,4],"data_offsets":[0,48])").find("shape"), std::string::npos);
  EXPECT_NE(with(R"("dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,48])").find("shape"),
            std::string::npos);
  EXPECT_NE(with(R"("dtype":"F32","shape":[3,4],"data_offsets":[48,0])").find("data_offsets"),
            std::string::npos);
  EXPECT_NE(with(R"("dtype":"F32","shape":[3,4])").find("data_offsets"), std::string::npos);
  EXPECT_NE(with(R"("dtype":3,"shape":[3,4],"data_offsets":[0,48])").find("dtype"), std::string::npos);
}

TEST(Safetensors, RefusesOverlapsHolesAndDoubles) {
  const TemporaryFolder folder;
  const auto two = [&](const char* first, const char* second, const char* name = "b") {
    return open_error(
        folder,
        file_of(std::string("{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":") + first + "},\"" +
                    name + "\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":" + second + "}}",
                std::string(8, 'x')));
  };
  EXPECT_EQ(two("[0,4]", "[4,8]"), "");
  EXPECT_NE(two("[0,4]", "[2,6]").find("overlap"), std::string::npos);
  EXPECT_NE(two("[0,4]", "[0,4]").find("overlap"), std::string::npos);
  EXPECT_NE(two("[0,4]", "[4,8]", "a").find("twice"), std::string::npos);
  const std::string hole = R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[4,8]}})";
  EXPECT_NE(open_error(folder, file_of(hole, std::string(8, 'x'))).find("hole"), std::string::npos);
}

TEST(Safetensors, OddButValidFilesOpen) {
  const TemporaryFolder folder;
  EXPECT_EQ(open_error(folder, file_of(R"({"__metadata__":{"a":"b"}})", "")), "");
  EXPECT_EQ(open_error(folder, file_of(R"({"a":{"dtype":"F32","shape":[0,4],"data_offsets":[0,0]}})", "")),
            "");
  for (const size_t size : {99'990u, 100'010u}) {
    std::string header = R"({"__metadata__":{"a":"b"}})";
    header.append(size - header.size(), ' ');
    EXPECT_EQ(open_error(folder, file_of(header, "")), "");
  }
}

TEST(Safetensors, DamagedFilesNeverCrash) {
  const TemporaryFolder folder;
  write_safetensors(folder.file("a"), {{"one", at::ones({2, 3})}, {"two", at::ones({5}, at::kLong)}},
                    {{"k", "v"}});
  const std::string good = read_all(folder.file("a"));
  const base::Random random(3, base::RandomStream::test);
  for (uint64_t i = 0; i < 2000; ++i) {
    std::string bad = good;
    for (uint64_t k = 0; k <= random.below(3, i, 50); ++k) {
      bad[random.below(bad.size(), i, k)] = static_cast<char>(random.bits32(i, 100 + k));
    }
    if (random.below(4, i, 60) == 0) bad.resize(random.below(bad.size(), i, 61));
    const std::string path = folder.write("bad", bad);
    error_of([&] {
      const SafetensorsFile file(path);
      file.tensors();
    });
  }
}

TEST(HuggingFaceFolder, ReadsShardsAndNamesWhatIsMissing) {
  const TemporaryFolder folder;
  const auto index = [&](const std::string& map) {
    folder.write("model.safetensors.index.json", "{\"weight_map\":" + map + "}");
  };
  write_safetensors(folder.file("1.safetensors"), {{"a", at::ones({2})}}, {});
  write_safetensors(folder.file("2.safetensors"), {{"b", at::zeros({3})}}, {});
  index(R"({"a":"1.safetensors","b":"2.safetensors"})");
  EXPECT_EQ(read_safetensors_folder(folder.path()).size(), 2u);
  const auto error = [&] { return error_of([&] { read_safetensors_folder(folder.path()); }); };
  index(R"({"a":"1.safetensors","b":"3.safetensors"})");
  EXPECT_NE(error().find("3.safetensors"), std::string::npos);
  index(R"({"a":"1.safetensors","c":"2.safetensors"})");
  EXPECT_NE(error().find("'c'"), std::string::npos);
  write_safetensors(folder.file("2.safetensors"), {{"a", at::zeros({3})}}, {});
  index(R"({"a":"1.safetensors","b":"2.safetensors"})");
  EXPECT_NE(error().find("'a' stands in"), std::string::npos);
  index("5");
  EXPECT_NE(error().find("weight_map"), std::string::npos);
  const TemporaryFolder nothing;
  EXPECT_NE(error_of([&] { read_safetensors_folder(nothing.path()); }).find("model.safetensors"),
            std::string::npos);
}

}  // namespace
}  // namespace megadlm::checkpoint
