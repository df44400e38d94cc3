#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace megadlm::base {

// What this process may use of the machine. `root` stands for "/", so that tests can lay out another machine.

/// Bytes of memory: the machine's, or a control group's limit (v1 and v2, any ancestor) where that is less.
uint64_t machine_memory_bytes(const std::filesystem::path& root = "/");

/// Processor cores: those that the process may run on, or a control group's quota, rounded up, where that
/// is less.
int64_t available_cores(const std::filesystem::path& root = "/");

/// The processor's name as the kernel gives it, for example "Intel(R) Xeon(R) Platinum 8481C".
std::string processor_name(const std::filesystem::path& root = "/");

}  // namespace megadlm::base
