#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "checkpoint/native/native.h"
#include "commands.h"
#include "config/parser.h"
#include "data/indexed/indexed_dataset.h"
#include "data/preprocess/preprocess.h"

namespace megadlm::apps {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

struct InspectOptions {
  static constexpr std::string_view group = "Inspect";
  bool json = false;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor&& option) {
    option(self.json, "json", "Print JSON.");
  }
};

Json describe_tensors(const checkpoint::SafetensorsFile& file) {
  Json tensors = Json::array();
  for (const auto& [name, entry] : file.entries()) {
    tensors.push_back({{"name", name}, {"type", c10::toString(entry.type)}, {"shape", entry.shape}});
  }
  return tensors;
}

int64_t count_elements(const Json& tensors) {
  int64_t count = 0;
  for (const auto& tensor : tensors) {
    int64_t elements = 1;
    for (const auto& size : tensor["shape"]) elements *= size.get<int64_t>();
    count += elements;
  }
  return count;
}

Json describe_checkpoint(const fs::path& folder) {
  const checkpoint::Snapshot snapshot = checkpoint::load_checkpoint(folder, false);
  Json report;
  report["kind"] = "checkpoint";
  report["path"] = folder.string();
  report["state"] = snapshot.state;
  report["architecture"] = snapshot.architecture;
  report["tensors"] = describe_tensors(checkpoint::SafetensorsFile(folder / "model.safetensors"));
  report["parameters"] = count_elements(report["tensors"]);
  return report;
}

Json describe_dataset(const std::string& prefix) {
  const data::IndexedDataset dataset(prefix);
  std::vector<int64_t> lengths;
  for (int64_t i = 0; i < dataset.num_documents(); ++i) lengths.push_back(dataset.document(i).count);
  std::sort(lengths.begin(), lengths.end());
  Json report;
  report["kind"] = "dataset";
  report["path"] = prefix;
  report["documents"] = dataset.num_documents();
  report["tokens"] = dataset.num_tokens();
  report["id_type"] = dataset.id_type() == data::IdType::uint16 ? "uint16" : "int32";
  if (!lengths.empty()) {
    report["document_tokens"] = {
        {"shortest", lengths.front()}, {"median", lengths[lengths.size() / 2]}, {"longest", lengths.back()}};
  }
  if (const auto bytes = data::text_bytes(prefix)) report["text_bytes"] = *bytes;
  return report;
}

Json describe_path(const std::string& path) {
  if (fs::exists(path + ".idx")) return describe_dataset(path);
  if (path.ends_with(".idx") || path.ends_with(".bin"))
    return describe_dataset(path.substr(0, path.size() - 4));
  if (fs::is_directory(path)) {
    const auto folder = checkpoint::find_checkpoint(path);
    base::require(folder.has_value(), "{}: holds no checkpoint", path);
    return describe_checkpoint(*folder);
  }
  base::require(fs::exists(path),
                "{}: is not there: expected a checkpoint's folder, a dataset's prefix or a safetensors file",
                path);
  const checkpoint::SafetensorsFile file(path);
  Json report;
  report["kind"] = "safetensors";
  report["path"] = path;
  report["metadata"] = file.metadata();
  report["tensors"] = describe_tensors(file);
  report["parameters"] = count_elements(report["tensors"]);
  return report;
}

void print_report(const Json& report) {
  for (const auto& [key, value] : report.items()) {
    if (key == "tensors") continue;
    if (!value.is_object()) {
      fmt::print("{:<18}{}\n", key, value.is_string() ? value.get<std::string>() : value.dump());
      continue;
    }
    fmt::print("{}\n", key);
    for (const auto& [name, entry] : value.items()) fmt::print("  {:<40}{}\n", name, entry.dump());
  }
  if (!report.contains("tensors")) return;
  fmt::print("tensors\n");
  for (const auto& tensor : report["tensors"]) {
    fmt::print("  {:<56}{:<10}{}\n", tensor["name"].get<std::string>(), tensor["type"].get<std::string>(),
               tensor["shape"].dump());
  }
}

}  // namespace

int inspect_command(const std::vector<std::string>& arguments) {
  InspectOptions options;
  std::string path;
  config::Parser parser("inspect", "Show what is in a checkpoint, a dataset or a safetensors file.");
  parser.add_positional("PATH", "A checkpoint's or run's folder, a dataset's prefix, or a safetensors file.",
                        path);
  parser.add(options);
  if (!parser.parse(arguments)) return 0;
  const Json report = describe_path(path);
  if (options.json) {
    fmt::print("{}\n", report.dump());
  } else {
    print_report(report);
  }
  return 0;
}

}  // namespace megadlm::apps
