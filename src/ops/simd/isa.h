#pragma once

#include <array>
#include <string_view>
#include <vector>

namespace megadlm::ops {

namespace cuda {
/// Whether this program holds the CUDA kernels (src/ops/*/cuda).
extern const bool kBuilt;
}  // namespace cuda

/// Instruction sets that kernels are built for, from the least to the best.
enum class Isa { portable, avx2, avx512, avx512_bf16 };
inline constexpr std::array kIsas{Isa::portable, Isa::avx2, Isa::avx512, Isa::avx512_bf16};

std::string_view name_of(Isa isa);
/// Those that this processor has.
std::vector<Isa> available_isas();
/// The best of them, or the one that the variable MEGADLM_ISA names (an Error when it cannot run here).
Isa current_isa();

/// With MEGADLM_VERBOSE=1: says once per op which implementation runs and why no better one does.
void report_choice(std::string_view op, std::string_view implementation, std::string_view reason);

/// A kernel table's build for the current instruction set.
template <class Kernels>
const Kernels& choose(const Kernels& portable, const Kernels& avx2, const Kernels& avx512,
                      const Kernels& avx512_bf16) {
  switch (current_isa()) {
    case Isa::avx512_bf16:
      return avx512_bf16;
    case Isa::avx512:
      return avx512;
    case Isa::avx2:
      return avx2;
    case Isa::portable:
      break;
  }
  return portable;
}

}  // namespace megadlm::ops
