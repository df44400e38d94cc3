// Trains a Hugging Face model for a few steps on mock rows and writes what a reference needs to repeat it:
//
//   training_trace --init-from FOLDER --output FILE.safetensors [pretrain options]
//
// For each step n: inputs.n, targets.n, weights.n (normalised: loss = sum of weight x cross-entropy), loss.n.
// gradient.<Hugging Face name>: the first step's gradients. final.<Hugging Face name>: the weights
// afterwards.

#include <ATen/ATen.h>

#include <cstdio>

#include "base/error.h"
#include "checkpoint/safetensors/safetensors.h"
#include "config/parser.h"
#include "data/samples/mock.h"
#include "models/decoder/hf_names.h"
#include "objectives/objective.h"
#include "optim/adamw/adamw.h"
#include "optim/schedule/schedule.h"
#include "training/stages/initial_weights.h"
#include "training/stages/pretrain.h"

namespace megadlm {
namespace {

struct TraceOptions {
  static constexpr std::string_view group = "Trace";
  std::string output;
  int64_t mask_id = 0;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor&& option) {
    option(self.output, "output", "The file to write.");
    option(self.mask_id, "mask-id", "Id of the mask token.");
  }
};

void record(std::vector<checkpoint::NamedTensor>& trace, const std::string& kind,
            const config::Architecture& architecture, const std::string& name, const at::Tensor& tensor) {
  for (const auto& [hugging_face, part] : models::to_hugging_face(architecture, name, tensor)) {
    trace.push_back({kind + "." + hugging_face, part.detach().clone()});
  }
}

void run(const std::vector<std::string>& arguments) {
  config::PretrainOptions options;
  TraceOptions trace_options;
  config::Parser parser("training_trace", "Records training steps for a reference.");
  options.add_to(parser);
  parser.add(trace_options);
  if (!parser.parse(arguments)) return;

  const std::string& folder = options.training.init_from;
  const auto architecture = training::read_architecture(folder);
  const auto model = models::make_decoder(architecture, 1);
  training::load_weights(folder, *model);
  const auto objective = objectives::make_objective(options.objective, trace_options.mask_id,
                                                    static_cast<uint64_t>(options.training.seed));
  optim::AdamW optimizer(model->parameters(), options.optimizer, at::kFloat);
  const int64_t rows = options.training.micro_batch_size, steps = options.training.train_iters.value_or(10);
  const optim::LearningRateSchedule schedule(options.schedule, rows, steps * rows);
  const data::MockDataset dataset(trace_options.mask_id, options.data.seq_length, objective->extra_tokens(),
                                  static_cast<uint64_t>(options.training.seed));

  std::vector<checkpoint::NamedTensor> trace;
  for (int64_t step = 0; step < steps; ++step) {
    std::vector<int64_t> samples;
    for (int64_t row = 0; row < rows; ++row) samples.push_back(step * rows + row);
    const auto example = objective->make(dataset.rows(samples, step));
    const at::Tensor weights = example.weights / example.tokens;
    const at::Tensor loss =
        model->loss(model->hidden({example.inputs, example.positions, example.visibility, nullptr}),
                    example.targets, weights);
    loss.backward();
    if (step == 0) {
      for (const auto& parameter : model->parameters()) {
        record(trace, "gradient", architecture, parameter.name, parameter.value.grad());
      }
    }
    optimizer.collect_gradients(true);
    optimizer.step(schedule.rate(step * rows), 1.0, optimizer.gradient_norm(1.0));
    const std::string suffix = "." + std::to_string(step);
    trace.push_back({"inputs" + suffix, example.inputs.contiguous()});
    trace.push_back({"targets" + suffix, example.targets.contiguous()});
    trace.push_back({"weights" + suffix, weights.contiguous()});
    trace.push_back({"loss" + suffix, loss.detach()});
  }
  for (const auto& parameter : model->parameters()) {
    record(trace, "final", architecture, parameter.name, parameter.value);
  }
  checkpoint::write_safetensors(trace_options.output, trace, {});
}

}  // namespace
}  // namespace megadlm

int main(int argc, char** argv) {
  try {
    megadlm::run({argv + 1, argv + argc});
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "training_trace: %s\n", error.what());
    return 1;
  }
}
