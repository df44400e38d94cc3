#pragma once

#include <ATen/core/Tensor.h>

#include "ops/attention/visibility.h"
#include "ops/qkv_rotary/qkv_rotary.h"
#include "ops/recompute.h"

namespace megadlm::ops {

/// softmax(scale q k^T, over the keys that a query sees) v. query [b, s, heads, d]; key, value [b, t, groups,
/// d]; gives [b, s, heads, d]. Where t > s the queries are the last s of the t positions.
/// With `again`, which gives query, key and value, they are not kept for the backward pass.
at::Tensor attention(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                     const Visibility& visibility, double scale, const Recompute<QueryKeyValue>& again = {});

}  // namespace megadlm::ops
