#include <ATen/ATen.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "checkpoint/safetensors/safetensors.h"
#include "checkpoint/safetensors/types.h"

namespace megadlm::checkpoint {
namespace {

std::string_view type_name(const std::filesystem::path& path, const NamedTensor& named) {
  for (const auto& [type, name] : kSafetensorsTypes) {
    if (type == named.tensor.scalar_type()) return name;
  }
  base::fail("{}: tensor '{}' has type {}, which the format does not hold", path.string(), named.name,
             c10::toString(named.tensor.scalar_type()));
}

}  // namespace

void write_safetensors(const std::filesystem::path& path, const std::vector<NamedTensor>& tensors,
                       const std::map<std::string, std::string>& metadata) {
  nlohmann::json header = nlohmann::json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  uint64_t offset = 0;
  for (const NamedTensor& named : tensors) {
    base::require(!header.contains(named.name), "{}: two tensors are named '{}'", path.string(), named.name);
    const uint64_t bytes = named.tensor.nbytes();
    header[named.name] = {{"dtype", type_name(path, named)},
                          {"shape", named.tensor.sizes().vec()},
                          {"data_offsets", {offset, offset + bytes}}};
    offset += bytes;
  }
  std::string text = header.dump();
  text.append((8 - text.size() % 8) % 8, ' ');
  base::AtomicFile file(path);
  const uint64_t length = text.size();
  file.write(&length, sizeof(length));
  file.write(text);
  for (const NamedTensor& named : tensors) {
    const at::Tensor plain = named.tensor.detach().to(at::kCPU).contiguous();
    file.write(plain.const_data_ptr(), plain.nbytes());
  }
  file.commit();
}

}  // namespace megadlm::checkpoint
