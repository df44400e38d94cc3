#pragma once

#include <filesystem>

#include "config/architecture/architecture.h"
#include "models/language_model.h"

namespace megadlm::training {

/// The architecture of a native checkpoint (its folder or its run's) or of a Hugging Face model folder.
config::Architecture read_architecture(const std::filesystem::path& folder);

/// Copies the folder's weights into the model, whose architecture must be the folder's. Errors name the
/// folder and the tensor.
void load_weights(const std::filesystem::path& folder, models::LanguageModel& model);

}  // namespace megadlm::training
