#include "training/stages/pretrain.h"
#include "commands.h"
#include "config/parser.h"

namespace megadlm::apps {

int pretrain_command(const std::vector<std::string>& arguments) {
  config::PretrainOptions options;
  config::Parser parser("pretrain", "Train a language model from random or given weights.");
  options.add_to(parser);
  if (!parser.parse(arguments)) return 0;
  return training::pretrain(options, parser.yaml());
}

}  // namespace megadlm::apps
