#pragma once

namespace megadlm::ops {

/// From now on the process's large tensors on the processor live in base::LargeBlocks: a step reuses the
/// memory of the step before, and long-lived small objects do not cut it to pieces. Where the system refuses
/// the addresses, malloc goes on to serve them, which is said.
void use_large_blocks();

}  // namespace megadlm::ops
