// SPDX-License-Identifier: BSL-1.0
/// Code that a program and a plugin both contain, with hidden or visible symbols, on top of one
/// shared library.
#pragma once

#include <byre/tensor.hpp>

/// A tensor for which a violation was reported, so that it has an attachment, and an empty buffer.
struct Reported {
  byre::Tensor reshaped;
  byre::Buffer empty;
};

inline Reported reshape_and_report() {
  const byre::shadow::ReshapeModeScope scope(byre::shadow::ReshapeMode::warn);
  byre::Tensor x = byre::Tensor::of<float>({6}, {1, 2, 3, 4, 5, 6});
  Reported reported{x.reshape({2, 3}), {}};
  x.mutable_data<float>()[0] = 7;
  static_cast<void>(reported.reshaped.data<float>());
  return reported;
}
