// SPDX-License-Identifier: BSL-1.0
/// A pipeline: a small program with reshapes in it, as people write them. Comments at the end of lines
/// label what relies on a reshape being an alias: `// reshaped 1`, `// written 1`, and `// then read 1`
/// or `// then written 1`, where the number is that of the triple, and `// seen 1` where what became of
/// that shows, if it does not at the line itself. `// view 1`, `// clone 1` or `// nothing 1` is what the
/// report is to advise, `// view or clone 1` if nobody but the author knows which, and
/// `// view by mistake 1` if `view` does as the code does, which its author never meant. ../labels.py
/// collects them.
#pragma once

#include "../journal.hpp"

#include <byre/tensor.hpp>
#include <vector>

namespace examples::reshape_audit {

using byre::DType;
using byre::Tensor;

/// The same work, not relying on aliases, so that it means the same in every mode.
struct Rewrite {
  void (*run)(Journal&);
  /// The mode in which the pipeline itself does what is meant: alias, or, where that was a bug, copy.
  byre::shadow::ReshapeMode meant;
};

struct Pipeline {
  const char* name;  ///< of its function
  const char* what;
  void (*run)(Journal&);
  Rewrite rewrite{};  ///< without a function for what relies on nothing
};

using Pipelines = std::vector<Pipeline>;

inline constexpr auto as_alias = byre::shadow::ReshapeMode::alias;
inline constexpr auto as_copy = byre::shadow::ReshapeMode::copy;

Pipelines attention_pipelines();
Pipelines imaging_pipelines();
Pipelines normalization_pipelines();
Pipelines parsing_pipelines();
Pipelines simulation_pipelines();
Pipelines snapshot_pipelines();
Pipelines training_pipelines();

/// Of f32: 1, 2, 3 and so on.
Tensor counted(const byre::Dims& sizes);

}  // namespace examples::reshape_audit
