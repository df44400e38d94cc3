#pragma once

#include <cstdint>
#include <functional>

namespace megadlm::ops {

/// Runs `work(scratch, begin, end)` over ranges that make up [0, parts), each thread with so many words of
/// its own to write to, aligned for vectors.
void in_parallel(int64_t parts, int64_t scratch_words,
                 const std::function<void(int32_t* scratch, int64_t begin, int64_t end)>& work);

}  // namespace megadlm::ops
