#pragma once

namespace megadlm::training {

/// From its construction on, SIGTERM, SIGINT and SIGUSR1 ask training to save and end; the old handling comes
/// back with its destruction. A second SIGINT ends the program at once.
class StopSignals {
 public:
  StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
  ~StopSignals();

  /// The name of the signal that arrived, or null.
  static const char* received();
};

}  // namespace megadlm::training
