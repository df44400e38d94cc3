#include "ops/attention/cpu/backward.h"
#include "ops/attention/cpu/forward.h"

namespace megadlm::ops::MEGADLM_ISA {
namespace {

template <class Format>
constexpr AttentionKernels::Implementation implementation() {
  using Forward = AttentionForward<Format>;
  using Backward = AttentionBackward<Format>;
  return {Forward::packed_words, Forward::pack_parts,    Forward::parts,
          Backward::parts,       Forward::scratch_words, Backward::scratch_words,
          Forward::pack,         Forward::run,           Backward::run};
}

}  // namespace

const AttentionKernels attention_kernels{implementation<F32Format>(), implementation<Bf16Format>()};

}  // namespace megadlm::ops::MEGADLM_ISA
