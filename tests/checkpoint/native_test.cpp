#include "checkpoint/native/native.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include "support/temporary_folder.h"

namespace megadlm::checkpoint {
namespace {

namespace fs = std::filesystem;
using megadlm::testing::error_of;
using megadlm::testing::read_all;
using megadlm::testing::TemporaryFolder;

Snapshot snapshot_of(double value, int64_t size = 8) {
  Snapshot snapshot;
  snapshot.model = {{"weight", at::full({size}, value)}};
  snapshot.optimizer = {{"weight.exp_avg", at::full({size}, value / 2)}};
  snapshot.architecture = {{"num_layers", 1}};
  snapshot.state = {{"iteration", value}};
  snapshot.config_yaml = "lr: 1\n";
  snapshot.extra_files = {{"tokenizer.json", "{}"}};
  return snapshot;
}

TEST(NativeCheckpoint, ComesBackWhole) {
  const TemporaryFolder folder;
  EXPECT_FALSE(find_checkpoint(folder.path()).has_value());
  save_checkpoint(folder.path(), 100, snapshot_of(3), 0);
  const auto found = find_checkpoint(folder.path());
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->filename(), "iter_0000100");
  EXPECT_EQ(read_all(folder.file("latest_checkpointed_iteration.txt")), "100\n");
  EXPECT_EQ(*find_checkpoint(*found), *found);
  const Snapshot loaded = load_checkpoint(*found, true);
  EXPECT_TRUE(loaded.model[0].tensor.equal(at::full({8}, 3.0)));
  EXPECT_TRUE(loaded.optimizer[0].tensor.equal(at::full({8}, 1.5)));
  EXPECT_EQ(loaded.state["iteration"], 3);
  EXPECT_EQ(loaded.config_yaml, "lr: 1\n");
  EXPECT_EQ(loaded.extra_files.at("tokenizer.json"), "{}");
  EXPECT_TRUE(load_checkpoint(*found, false).optimizer.empty());
}

TEST(NativeCheckpoint, KeepsTheNewestAndReplacesItsOwn) {
  const TemporaryFolder folder;
  for (const int64_t iteration : {1, 2, 3, 4})
    save_checkpoint(folder.path(), iteration, snapshot_of(iteration), 2);
  save_checkpoint(folder.path(), 4, snapshot_of(40), 2);
  EXPECT_FALSE(fs::exists(folder.file("iter_0000002")));
  EXPECT_TRUE(fs::exists(folder.file("iter_0000003")));
  EXPECT_EQ(load_checkpoint(*find_checkpoint(folder.path()), false).state["iteration"], 40);
  int entries = 0;
  for (const auto& entry : fs::directory_iterator(folder.path())) entries += entry.exists();
  EXPECT_EQ(entries, 3);
}

TEST(NativeCheckpoint, FindsTruncatedEditedAndMissingFiles) {
  for (const char* name : {"model.safetensors", "optimizer.safetensors", "architecture.json", "state.json",
                           "config.yaml", "tokenizer.json"}) {
    const TemporaryFolder folder;
    save_checkpoint(folder.path(), 1, snapshot_of(1), 0);
    const fs::path checkpoint = *find_checkpoint(folder.path()), path = checkpoint / name;
    const std::string good = read_all(path.string());
    const auto error = [&] { return error_of([&] { load_checkpoint(checkpoint, true); }); };
    fs::resize_file(path, good.size() - 1);
    EXPECT_NE(error().find(name), std::string::npos);
    std::string edited = good;
    edited[edited.size() / 2] ^= 1;
    std::ofstream(path, std::ios::binary) << edited;
    EXPECT_NE(error().find("checksum"), std::string::npos) << name;
    fs::remove(path);
    EXPECT_NE(error().find("is missing"), std::string::npos) << name;
  }
}

TEST(NativeCheckpoint, NamesABadPointer) {
  const TemporaryFolder folder;
  folder.write("latest_checkpointed_iteration.txt", "77\n");
  EXPECT_NE(error_of([&] { find_checkpoint(folder.path()); }).find("iter_0000077"), std::string::npos);
  folder.write("latest_checkpointed_iteration.txt", "release\n");
  EXPECT_NE(error_of([&] { find_checkpoint(folder.path()); }).find("release"), std::string::npos);
}

TEST(NativeCheckpoint, CleansUpAfterRunsThatDied) {
  const TemporaryFolder folder;
  save_checkpoint(folder.path(), 1, snapshot_of(1), 0);
  fs::create_directories(folder.file("iter_0000002.tmp-12345"));
  std::ofstream(folder.file("iter_0000002.tmp-12345/model.safetensors")) << "half";
  EXPECT_EQ(find_checkpoint(folder.path())->filename(), "iter_0000001");
  save_checkpoint(folder.path(), 3, snapshot_of(3), 0);
  EXPECT_FALSE(fs::exists(folder.file("iter_0000002.tmp-12345")));
}

TEST(NativeCheckpoint, AFullDiskLeavesTheEarlierOne) {
  const TemporaryFolder folder;
  if (::geteuid() != 0 || ::mount("none", folder.path().c_str(), "tmpfs", 0, "size=400k") != 0) {
    GTEST_SKIP() << "needs the right to mount a small tmpfs";
  }
  save_checkpoint(folder.path(), 1, snapshot_of(1), 0);
  const std::string error = error_of([&] { save_checkpoint(folder.path(), 2, snapshot_of(2, 1 << 20), 0); });
  EXPECT_NE(error.find("No space left"), std::string::npos) << error;
  EXPECT_NE(error.find("iteration 2"), std::string::npos) << error;
  EXPECT_EQ(find_checkpoint(folder.path())->filename(), "iter_0000001");
  EXPECT_EQ(load_checkpoint(*find_checkpoint(folder.path()), true).state["iteration"], 1);
  int entries = 0;
  for (const auto& entry : fs::directory_iterator(folder.path())) entries += entry.exists();
  EXPECT_EQ(entries, 2) << "nothing half-written may stay";
  ::umount(folder.path().c_str());
}

}  // namespace
}  // namespace megadlm::checkpoint
