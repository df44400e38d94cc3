#pragma once

#include <c10/core/ScalarType.h>

#include <array>
#include <string_view>
#include <utility>

namespace megadlm::checkpoint {

/// The format's names of element types.
inline constexpr std::array kSafetensorsTypes{
    std::pair{at::kDouble, std::string_view("F64")}, std::pair{at::kFloat, std::string_view("F32")},
    std::pair{at::kHalf, std::string_view("F16")},   std::pair{at::kBFloat16, std::string_view("BF16")},
    std::pair{at::kLong, std::string_view("I64")},   std::pair{at::kInt, std::string_view("I32")},
    std::pair{at::kShort, std::string_view("I16")},  std::pair{at::kChar, std::string_view("I8")},
    std::pair{at::kByte, std::string_view("U8")},    std::pair{at::kBool, std::string_view("BOOL")},
};

}  // namespace megadlm::checkpoint
