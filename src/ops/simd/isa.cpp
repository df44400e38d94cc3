#include "ops/simd/isa.h"

#include <cstdlib>
#include <mutex>
#include <set>
#include <string>

#include "base/error.h"
#include "base/log.h"

namespace megadlm::ops {
namespace {

bool available(Isa isa) {
  __builtin_cpu_init();
  switch (isa) {
    case Isa::avx512_bf16:
      return available(Isa::avx512) && __builtin_cpu_supports("avx512bf16");
    case Isa::avx512:
      return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
             __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
    case Isa::avx2:
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    case Isa::portable:
      break;
  }
  return true;
}

Isa choose_isa() {
  const char* forced = std::getenv("MEGADLM_ISA");
  if (forced == nullptr || *forced == '\0') {
    const Isa best = available_isas().back();
    if (best != kIsas.back()) {
      base::warn_once(
          fmt::format("this processor has no AVX-512 with BF16: kernels run their {} form", name_of(best)));
    }
    return best;
  }
  for (const Isa isa : kIsas) {
    if (name_of(isa) != forced) continue;
    base::require(available(isa), "MEGADLM_ISA={}: this processor does not have these instructions", forced);
    return isa;
  }
  base::fail("MEGADLM_ISA={}: expected portable, avx2, avx512 or avx512_bf16", forced);
}

}  // namespace

std::string_view name_of(Isa isa) {
  switch (isa) {
    case Isa::avx512_bf16:
      return "avx512_bf16";
    case Isa::avx512:
      return "avx512";
    case Isa::avx2:
      return "avx2";
    case Isa::portable:
      break;
  }
  return "portable";
}

std::vector<Isa> available_isas() {
  std::vector<Isa> result;
  for (const Isa isa : kIsas) {
    if (available(isa)) result.push_back(isa);
  }
  return result;
}

Isa current_isa() {
  static const Isa isa = choose_isa();
  return isa;
}

void report_choice(std::string_view op, std::string_view implementation, std::string_view reason) {
  static const char* verbose = std::getenv("MEGADLM_VERBOSE");
  if (verbose == nullptr || *verbose != '1') return;
  static std::mutex mutex;
  static std::set<std::string> said;
  const std::string text =
      fmt::format("{}: {}{}{}", op, implementation, reason.empty() ? "" : ", since ", reason);
  const std::lock_guard lock(mutex);
  if (said.insert(text).second) spdlog::info("{}", text);
}

}  // namespace megadlm::ops
