#include "base/machine.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/error.h"

namespace megadlm::base {
namespace {

namespace fs = std::filesystem;

/// A machine's /proc and /sys in a temporary folder: 16 GiB.
class MachineTest : public testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::temp_directory_path() /
            (std::string("megadlm_machine_") + testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(root_);
    write("proc/meminfo", "MemTotal:       16777216 kB\nMemFree:         1 kB\n");
    write("proc/cpuinfo", "processor\t: 0\nmodel name\t: Some Chip 3000\nmodel\t\t: 7\n");
  }
  void TearDown() override { fs::remove_all(root_); }
  void write(const fs::path& path, const std::string& text) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }

  static constexpr uint64_t gibibyte = 1ull << 30;
  fs::path root_;
};

TEST_F(MachineTest, ThisMachine) {
  EXPECT_GT(machine_memory_bytes(), uint64_t{1} << 26);
  EXPECT_GE(available_cores(), 1);
  EXPECT_FALSE(processor_name().empty());
}

TEST_F(MachineTest, WithoutControlGroups) {
  EXPECT_EQ(machine_memory_bytes(root_), 16 * gibibyte);
  EXPECT_EQ(processor_name(root_), "Some Chip 3000");
}

TEST_F(MachineTest, UnifiedHierarchyTakesTheLeastLimit) {
  write("proc/self/cgroup", "0::/slice/job\n");
  write("sys/fs/cgroup/slice/job/memory.max", "max\n");
  EXPECT_EQ(machine_memory_bytes(root_), 16 * gibibyte);
  write("sys/fs/cgroup/slice/memory.max", "4294967296\n");
  EXPECT_EQ(machine_memory_bytes(root_), 4 * gibibyte);
  write("sys/fs/cgroup/slice/job/memory.max", "8589934592\n");
  EXPECT_EQ(machine_memory_bytes(root_), 4 * gibibyte);
  write("sys/fs/cgroup/slice/job/cpu.max", "50000 100000\n");
  EXPECT_EQ(available_cores(root_), 1);
}

TEST_F(MachineTest, FirstHierarchy) {
  write("proc/self/cgroup", "9:name=systemd:/\n4:cpu,memory:/job\n");
  write("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(machine_memory_bytes(root_), 16 * gibibyte);
  write("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "2147483648\n");
  EXPECT_EQ(machine_memory_bytes(root_), 2 * gibibyte);
}

TEST_F(MachineTest, ContainerWithTheHostsPath) {
  write("proc/self/cgroup", "0::/not/mounted/here\n");
  write("sys/fs/cgroup/memory.max", "1073741824\n");
  EXPECT_EQ(machine_memory_bytes(root_), gibibyte);
}

TEST_F(MachineTest, UnreadableMemory) {
  write("proc/meminfo", "nothing\n");
  EXPECT_THROW(machine_memory_bytes(root_), Error);
}

}  // namespace
}  // namespace megadlm::base
