// SPDX-License-Identifier: BSL-1.0
/// The model: square matrices, one after the other, that live in .npy files.
#pragma once

#include "options.hpp"
#include "temporary_directory.hpp"

#include <byre/tensor/tensor.hpp>

#include <filesystem>
#include <vector>

namespace examples::weights_overlay {

/// One tensor for each layer.
using Model = std::vector<byre::Tensor>;

/// The model's files, in a temporary directory. They may be mapped longer than this lives.
class ModelFiles {
 public:
  /// Writes the files. Throws Failure, byre::Error, Interrupted.
  explicit ModelFiles(const Plan& plan);

  /// Maps every layer; reads none.
  Model map() const;
  /// Reads every layer into ordinary memory.
  Model load() const;
  /// Reads every layer from the disk into memory, one at a time: are they what was written?
  bool are_as_written() const;

 private:
  std::filesystem::path file_of(std::size_t layer) const;

  Plan plan_;
  TemporaryDirectory directory_;
};

/// What the model answers: a vector that went through all layers. The same weights give the same
/// bits.
std::vector<float> output_of(const Model& model);

}  // namespace examples::weights_overlay
