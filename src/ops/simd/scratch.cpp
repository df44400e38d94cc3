#include "ops/simd/scratch.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

namespace megadlm::ops {

void in_parallel(int64_t parts, int64_t scratch_words,
                 const std::function<void(int32_t* scratch, int64_t begin, int64_t end)>& work) {
  at::parallel_for(0, parts, 1, [&](int64_t begin, int64_t end) {
    const at::Tensor scratch = at::empty({scratch_words}, at::kInt);
    work(scratch.mutable_data_ptr<int32_t>(), begin, end);
  });
}

}  // namespace megadlm::ops
