#pragma once

#include <string>
#include <vector>

namespace megadlm::apps {

// One function a subcommand, each in a file of its name. `arguments` are those after the subcommand; the
// result is the exit code. Errors are thrown as base::Error and printed by main.
int doctor_command(const std::vector<std::string>& arguments);
int evaluate_command(const std::vector<std::string>& arguments);
int generate_command(const std::vector<std::string>& arguments);
int inspect_command(const std::vector<std::string>& arguments);
int preprocess_command(const std::vector<std::string>& arguments);
int pretrain_command(const std::vector<std::string>& arguments);
int tokenizer_command(const std::vector<std::string>& arguments);

}  // namespace megadlm::apps
