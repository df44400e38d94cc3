#pragma once

#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>

#include <cstdint>

namespace megadlm::ops {

/// The most floating-point operations a second that products of [size, size] and [size, 3 x size] reach on
/// the device, of a few tries within about half a second. A slow one is measured at a smaller size, from 256
/// on.
double measure_gemm_flops(at::ScalarType type, int64_t size, at::Device device = at::kCPU);

/// The most bytes a second, read and written together, that copies of 128 MiB reach on the processor, of a
/// few tries within about 0.3 seconds.
double measure_copy_bandwidth();

}  // namespace megadlm::ops
