#include "training/loop/signals.h"

#include <csignal>

namespace megadlm::training {
namespace {

volatile std::sig_atomic_t last_signal = 0;

void remember(int signal) {
  if (signal == SIGINT && last_signal == SIGINT) {
    std::signal(SIGINT, SIG_DFL);
    std::raise(SIGINT);
  }
  last_signal = signal;
}

}  // namespace

StopSignals::StopSignals() {
  last_signal = 0;
  for (const int signal : {SIGTERM, SIGINT, SIGUSR1}) std::signal(signal, remember);
}

StopSignals::~StopSignals() {
  for (const int signal : {SIGTERM, SIGINT, SIGUSR1}) std::signal(signal, SIG_DFL);
}

const char* StopSignals::received() {
  switch (last_signal) {
    case SIGTERM:
      return "SIGTERM";
    case SIGINT:
      return "SIGINT";
    case SIGUSR1:
      return "SIGUSR1";
    default:
      return nullptr;
  }
}

}  // namespace megadlm::training
