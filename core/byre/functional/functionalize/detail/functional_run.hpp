// SPDX-License-Identifier: BSL-1.0
/// FunctionalRun: one run of a program under the pass. It records what the program did to its
/// inputs, and what its outputs are of. So values that were computed elsewhere, as by a graph, can
/// be given the same effect.
#pragma once

#include <byre/functional/functionalize/detail/input_aliasing.hpp>
#include <byre/functional/functionalize/options.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace byre::inline v0::functional {

class Alias;
class WriteBack;

class FunctionalRun {
 public:
  /// What is computed of a base that was written: the regions that were written, or all of it.
  enum class WrittenValues : std::uint8_t { regions, bases };

  /// Runs `f` over functional tensors in place of `originals`: views of `bases`, as `aliasing`
  /// describes. Bases are on the backend that computes. Factories in `f` make tensors of `backend`.
  FunctionalRun(const Program& f, const Tensors& originals, InputAliasing aliasing, Tensors bases,
                KeySet backend, FunctionalizeOptions options,
                WrittenValues written = WrittenValues::regions);

  const InputAliasing& aliasing() const noexcept { return aliasing_; }
  /// What is to be computed: what was written to bases, then the outputs. Call it once: values that
  /// are kept may share memory with what is to be written.
  Tensors take_values() noexcept { return std::exchange(values_, {}); }
  /// Throws StateError for other inputs than it ran with, if one that grows has views outside of
  /// the program: they would be left behind.
  void expect_may_grow(const InputAliasing& inputs) const;

  /// Gives `values`, of the CPU or of the inputs' own backend, the effect of the program: writes
  /// the inputs, and returns the outputs. Throws what WriteBack::commit() throws; no input was
  /// changed then.
  Tensors finish(const Tensors& inputs, Tensors values) const;

 private:
  /// A region of a base that was written, and where its value is, or that of all of the base.
  struct WrittenRegion {
    std::size_t base;
    ViewGeometry geometry;
    std::size_t value;
  };
  /// Where a tensor is found that the program returned, or made of an input in place.
  struct Found {
    enum class In : std::uint8_t {
      input,
      output,
      base,
      value,
      unchanged,  ///< a value that was there before, of a backend
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
  std::size_t first_output_ = 0;  // among the values
  std::vector<Found> outputs_;
  std::vector<std::size_t> grown_inputs_;
  std::vector<std::pair<std::size_t, Found>> moved_inputs_;  // that see something else now
  Tensors captured_;  // of the CPU, that are returned, or seen by what is
};

}  // namespace byre::inline v0::functional
