// The program: finds the subcommand, runs it, prints what went wrong.
#include <c10/util/Exception.h>
#include <malloc.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <new>

#include "base/error.h"
#include "base/log.h"
#include "commands.h"
#include "config/nearest.h"
#include "ops/allocator/allocator.h"

namespace {

using Arguments = std::vector<std::string>;

struct Command {
  std::string_view name;
  std::string_view summary;
  int (*run)(const Arguments& arguments);
  /// Subcommands of the subcommand, which have help of their own.
  std::vector<std::string> parts;
};

const std::vector<Command>& commands() {
  using namespace megadlm::apps;
  static const std::vector<Command> table{
      {"tokenizer",
       "train a tokenizer, or run one",
       tokenizer_command,
       {"train", "encode", "decode", "info"}},
      {"preprocess", "turn text into training data", preprocess_command, {}},
      {"pretrain", "train a model", pretrain_command, {}},
      {"evaluate", "measure a model on held-out text", evaluate_command, {}},
      {"generate", "sample text from a model", generate_command, {}},
      {"inspect", "show what is in a checkpoint or dataset", inspect_command, {}},
      {"doctor", "show what this machine and build can do", doctor_command, {}},
  };
  return table;
}

/// glibc gives large blocks back to the kernel at each free, and the page faults of the next step then cost
/// a third of its time. Keep them: no mmap for what an int can name, and never trim (-1). Large tensors have
/// memory of their own.
void set_allocator() {
  mallopt(M_MMAP_THRESHOLD, INT_MAX);
  mallopt(M_TRIM_THRESHOLD, -1);
  megadlm::ops::use_large_blocks();
}

void print_overview() {
  std::string text =
      "megadlm: pre-trains, evaluates and samples diffusion and autoregressive language models\n\n"
      "Usage: megadlm COMMAND [options]\n\nCommands\n";
  for (const Command& command : commands()) text += fmt::format("  {:12}{}\n", command.name, command.summary);
  text +=
      "  help        this, or the options of a command: megadlm help pretrain\n\n"
      "megadlm --version prints the version.\n";
  std::fputs(text.c_str(), stdout);
}

const Command& find_command(const std::string& name) {
  std::vector<std::string> names{"help"};
  for (const Command& command : commands()) {
    if (command.name == name) return command;
    names.emplace_back(command.name);
  }
  if (const auto near = megadlm::config::nearest(name, names)) {
    megadlm::base::fail_usage("'{}': unknown command; did you mean {}?", name, *near);
  }
  names.erase(names.begin());
  megadlm::base::fail_usage("'{}': unknown command; there are {}", name, fmt::join(names, ", "));
}

/// The reference page of all options, docs/reference/options.md.
int print_markdown() {
  std::fputs(
      "# Options\n\n"
      "Made from the program by `scripts/reference-docs`. Every option is also a key of a YAML file given "
      "with "
      "`--config`, with underscores: `--num-layers 4` is `num_layers: 4`.\n",
      stdout);
  for (const Command& command : commands()) {
    for (const std::string& part : command.parts.empty() ? Arguments{""} : command.parts) {
      std::fputs("\n", stdout);
      command.run(part.empty() ? Arguments{"--help-markdown"} : Arguments{part, "--help-markdown"});
    }
  }
  return 0;
}

int print_help(Arguments arguments) {
  if (arguments.empty()) {
    print_overview();
    return 0;
  }
  if (arguments.front() == "--markdown") return print_markdown();
  const Command& command = find_command(arguments.front());
  arguments.erase(arguments.begin());
  arguments.emplace_back("--help");
  return command.run(arguments);
}

int run(const Arguments& arguments) {
  if (arguments.empty()) {
    print_overview();
    return 2;
  }
  const std::string& name = arguments.front();
  const Arguments rest(arguments.begin() + 1, arguments.end());
  if (name == "help" || name == "--help" || name == "-h") return print_help(rest);
  if (name == "--version") {
    std::printf("megadlm %s (libtorch %s)\n", MEGADLM_VERSION, LIBTORCH_VERSION);
    return 0;
  }
  return find_command(name).run(rest);
}

int report(const char* message, int exit_code) {
  std::fflush(stdout);
  std::fprintf(stderr, "megadlm: error: %s\n", message);
  return exit_code;
}

int run_and_report(const Arguments& arguments) {
  try {
    megadlm::base::start_logging();
    const int exit_code = run(arguments);
    if (std::fflush(stdout) != 0) megadlm::base::fail("standard output: {}", std::strerror(errno));
    return exit_code;
  } catch (const megadlm::base::Error& error) {
    return report(error.what(), error.exit_code());
  } catch (const c10::Error& error) {
    return report(error.what_without_backtrace(), 1);
  } catch (const std::bad_alloc&) {
    return report("out of memory", 1);
  } catch (const std::exception& error) {
    return report(error.what(), 1);
  }
}

}  // namespace

int main(int argument_count, char** arguments) {
  set_allocator();
  return run_and_report(Arguments(arguments + 1, arguments + argument_count));
}
