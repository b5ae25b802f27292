// SPDX-License-Identifier: BSL-1.0
/// Batches of a program: it is run once by vmap over all of a batch, and by itself on each of it.
#pragma once

#include "program.hpp"

namespace byre::test {

/// Which of the two stands within the other.
enum class Nesting : bool { pass_in_vmap, vmap_in_pass };

struct BatchOutcome {
  std::string
      difference;  ///< outputs and inputs that are not what the runs by themselves make them
  std::string
      refused_by;  ///< what vmap does not do: the operator, or "vmap" for the run as a whole
};

/// Inputs are each of another content and with its batch at another axis; some have none, and some
/// are views of the first one's memory. What is captured has no batch. Runs by themselves have
/// inputs that are apart: what vmap does not refuse writes none that shares memory.
BatchOutcome run_batch(const Program& program, Nesting nesting);

}  // namespace byre::test
