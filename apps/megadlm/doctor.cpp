#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/machine.h"
#include "commands.h"
#include "config/parser.h"
#include "ops/gemm/probe.h"
#include "ops/simd/isa.h"

namespace megadlm::apps {
namespace {

struct DoctorOptions {
  static constexpr std::string_view group = "Doctor";
  bool json = false;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor&& option) {
    option(self.json, "json", "Print JSON.");
  }
};

/// What the installed MPI says of itself; empty when there is none.
std::string mpi_version() {
  for (const char* name : {"libmpi.so", "libmpi.so.40", "libmpi.so.12"}) {
    void* library = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
    if (library == nullptr) continue;
    using VersionFunction = int (*)(char*, int*);
    const auto version = reinterpret_cast<VersionFunction>(dlsym(library, "MPI_Get_library_version"));
    if (version == nullptr) continue;
    char text[8192] = {};
    int length = 0;
    version(text, &length);
    const std::string whole(text);
    return whole.substr(0, whole.find_first_of(",\n"));
  }
  return "";
}

std::string instruction_sets() {
  std::string sets;
  const auto add = [&](bool has, const char* name) {
    if (has) sets += sets.empty() ? name : std::string(" ") + name;
  };
  __builtin_cpu_init();
  add(__builtin_cpu_supports("avx2"), "avx2");
  add(__builtin_cpu_supports("fma"), "fma");
  add(__builtin_cpu_supports("avx512f"), "avx512f");
  add(__builtin_cpu_supports("avx512bf16"), "avx512_bf16");
  return sets.empty() ? "none beyond the baseline" : sets;
}

}  // namespace

int doctor_command(const std::vector<std::string>& arguments) {
  DoctorOptions options;
  config::Parser parser("doctor", "Show what this machine and build can do.");
  parser.add(options);
  if (!parser.parse(arguments)) return 0;
  const std::string mpi = mpi_version();
  nlohmann::ordered_json report;
  report["megadlm"] = MEGADLM_VERSION;
  report["libtorch"] = LIBTORCH_VERSION;
  report["processor"] = base::processor_name();
  report["cores"] = base::available_cores();
  report["threads"] = at::get_num_threads();
  report["memory_bytes"] = base::machine_memory_bytes();
  report["instruction_sets"] = instruction_sets();
  report["kernels"] = ops::name_of(ops::current_isa());
  report["mpi"] = mpi.empty() ? "not found" : mpi;
  report["cuda"] = at::hasCUDA() ? "built, and a device is there" : "not built, or no device";
  report["gemm_bf16_gflops"] = std::round(ops::measure_gemm_flops(at::kBFloat16, 2048) / 1e9);
  report["gemm_fp32_gflops"] = std::round(ops::measure_gemm_flops(at::kFloat, 2048) / 1e9);
  report["copy_gb_per_second"] = std::round(ops::measure_copy_bandwidth() / 1e9);
  if (options.json) {
    fmt::print("{}\n", report.dump());
    return 0;
  }
  for (const auto& [key, value] : report.items()) {
    fmt::print("{:<20}{}\n", key, value.is_string() ? value.get<std::string>() : value.dump());
  }
  return 0;
}

}  // namespace megadlm::apps
