// SPDX-License-Identifier: BSL-1.0
/// A FunctionalRun is one run of a program under the pass. It records how the program wrote its
/// inputs, and the origin of each output. finish() can then write inputs and build outputs from
/// values that were computed elsewhere, for example by a graph.
#pragma once

#include <byre/functional/functionalize/detail/input_aliasing.hpp>
#include <byre/functional/functionalize/options.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace byre::inline BYRE_ABI::functional {

class Alias;
class WriteBack;

class FunctionalRun {
 public:
  /// How a written base is returned: as its written regions, or as a whole.
  enum class WrittenValues : std::uint8_t { regions, bases };

  /// Runs `f` on functional tensors that replace `originals`. They are views of `bases`, as
  /// `aliasing` describes. The bases are tensors of the computing backend. Factories in `f` create
  /// tensors of `backend`.
  FunctionalRun(const Program& f, const Tensors& originals, InputAliasing aliasing, Tensors bases,
                KeySet backend, FunctionalizeOptions options,
                WrittenValues written = WrittenValues::regions);

  const InputAliasing& aliasing() const noexcept { return aliasing_; }
  /// Returns the values to compute: those written to bases, then the outputs. Call it once and
  /// release the values before the write-back: they may share memory with its targets.
  Tensors take_values() noexcept { return std::exchange(values_, {}); }
  /// Throws StateError if an input that the program grows has views outside the program, which
  /// would keep the old storage. Call this if `inputs` are not the inputs of this run.
  void expect_may_grow(const InputAliasing& inputs) const;

  /// Writes the inputs and returns the outputs, from `values` of the CPU or of the inputs' backend.
  /// Throws the errors of WriteBack::commit(); if it throws, no input on the CPU was changed.
  Tensors finish(const Tensors& inputs, Tensors values) const;

 private:
  /// A written region of a base, and the index of its value or of the whole base's value.
  struct WrittenRegion {
    std::size_t base;
    ViewGeometry geometry;
    std::size_t value;
  };
  /// The origin of a tensor that the program returned, or assigned to an input in place.
  struct Found {
    enum class In : std::uint8_t {
      input,
      output,
      base,
      value,
      unchanged,  ///< an existing value of a backend
      captured,
      view_of_captured,
    };
    In in;
    std::size_t index;
    ViewGeometry geometry;
  };

  struct Finder;

  void record_written(std::size_t base, Alias& alias);
  void write_regions(const Tensors& inputs, Tensors& values, WriteBack& writes) const;
  AnyTensor tensor_at(const Found& place, const Tensors& inputs, const Tensors& values,
                      const Tensors& outputs) const;

  InputAliasing aliasing_;
  WrittenValues written_values_;
  std::vector<WrittenRegion> written_regions_;
  Tensors values_;
  std::size_t first_output_ = 0;  // index into the values
  std::vector<Found> outputs_;
  std::vector<std::size_t> grown_inputs_;
  // inputs whose geometry or alias the program changed
  std::vector<std::pair<std::size_t, Found>> rebound_inputs_;
  Tensors captured_;  // captured tensors of the CPU that are outputs, or that outputs view
};

}  // namespace byre::inline BYRE_ABI::functional
