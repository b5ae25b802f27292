// SPDX-License-Identifier: BSL-1.0
/// Pictures of a field, as PNG by libpng.
#pragma once

#include <byre/tensor/tensor.hpp>
#include <cstddef>
#include <filesystem>

namespace examples::diffusion {

/// Where pictures go. Does nothing without a directory.
class Frames {
 public:
  /// Makes the directory if it is not there, and tries to write to it. Throws Failure.
  Frames(std::filesystem::path directory, std::size_t every);

  bool are_wanted() const noexcept { return !directory_.empty(); }
  bool are_wanted_at(std::size_t step, std::size_t last) const noexcept {
    return are_wanted() && (step % every_ == 0 || step == last);
  }
  /// Of v of a grid of the host: frame-000050.png. Throws Failure, byre::FileError.
  void write(std::size_t step, const byre::Tensor& grid);
  std::size_t count() const noexcept { return count_; }

 private:
  std::filesystem::path directory_;
  std::size_t every_;
  std::size_t count_ = 0;
};

}  // namespace examples::diffusion
