// SPDX-License-Identifier: BSL-1.0
/// FunctionalRun: one run of a program under the pass, and what it did to its inputs and outputs apart
/// from values: enough to give values computed elsewhere, by a graph for example, the same effect.
#pragma once

#include <byre/functional/functionalize/input_aliasing.hpp>
#include <byre/functional/functionalize/options.hpp>

#include <cstddef>
#include <functional>
#include <vector>

namespace byre::inline v0::functional {

class FunctionalRun {
 public:
  /// Runs `f`, in place of with `originals`, over functional tensors, views of `bases` as `aliasing` says, which are on the backend that
  /// is to compute. `backend` is where it makes tensors of nothing.
  FunctionalRun(const Program& f, const Tensors& originals, InputAliasing aliasing, Tensors bases,
                KeySet backend, FunctionalizeOptions options);

  const InputAliasing& aliasing() const noexcept { return aliasing_; }
  /// What has to be computed: of each base that was written its new value, then what outputs are.
  const Tensors& values() const noexcept { return values_; }
  /// Throws StateError for inputs, other than those it ran with, that have views outside of the program,
  /// which one that grows would leave behind.
  void expect_may_grow(const InputAliasing& inputs) const;
  void drop_values() noexcept { values_.clear(); }
  /// The bases that were written, in the order of their values.
  const std::vector<std::size_t>& written_bases() const noexcept { return written_; }

  /// Gives `values`, of the CPU or of the inputs' own backend, the effect of the program: writes the
  /// inputs, and answers the outputs.
  Tensors finish(const Tensors& inputs, const Tensors& values) const;

 private:
  /// Where a tensor is to be found that the program returned, or made of an input in place.
  struct Found {
    enum class In : std::uint8_t { input, output, base, value };
    In in;
    std::size_t index;
    Window window;
  };

  class Finder;

  InputAliasing aliasing_;
  std::vector<std::size_t> written_;
  Tensors values_;
  std::vector<Found> outputs_;
  std::vector<std::size_t> grown_inputs_;
  std::vector<std::pair<std::size_t, Found>> moved_inputs_;  // that see something else now
};

}  // namespace byre::inline v0::functional
