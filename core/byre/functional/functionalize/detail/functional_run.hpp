// SPDX-License-Identifier: BSL-1.0
/// FunctionalRun: one run of a program under the pass, and what it did to its inputs and outputs apart
/// from values: enough to give values computed elsewhere, by a graph for example, the same effect.
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
  /// What is to be computed of a base that was written: those parts alone, or all of it.
  enum class Written : std::uint8_t { parts, bases };

  /// Runs `f`, in place of with `originals`, over functional tensors, views of `bases` as `aliasing`
  /// says, which are on the backend that is to compute. `backend` is where it makes tensors of nothing.
  FunctionalRun(const Program& f, const Tensors& originals, InputAliasing aliasing, Tensors bases,
                KeySet backend, FunctionalizeOptions options, Written written = Written::parts);

  const InputAliasing& aliasing() const noexcept { return aliasing_; }
  /// What has to be computed: what was written to bases, then what outputs are. Once: values that are
  /// kept may share memory with what is to be written.
  Tensors take_values() noexcept { return std::exchange(values_, {}); }
  /// Throws StateError for inputs, other than those it ran with, that have views outside of the program,
  /// which one that grows would leave behind.
  void expect_may_grow(const InputAliasing& inputs) const;

  /// Gives `values`, of the CPU or of the inputs' own backend, the effect of the program: writes the
  /// inputs, and answers the outputs. Throws what WriteBack::commit() throws; no input was changed then.
  Tensors finish(const Tensors& inputs, Tensors values) const;

 private:
  /// A part of a base that was written, and the value of it, or of all of the base.
  struct Part {
    std::size_t base;
    ViewGeometry geometry;
    std::size_t value;
  };
  /// Where a tensor is to be found that the program returned, or made of an input in place.
  struct Found {
    enum class In : std::uint8_t {
      input,
      output,
      base,
      value,
      itself,  ///< a value that was there before, of a backend
      captured,
      view_of_captured,
    };
    In in;
    std::size_t index;
    ViewGeometry geometry;
  };

  class Finder;

  void record_written(std::size_t base, Alias& alias);
  void write_parts(const Tensors& inputs, Tensors& values, WriteBack& writes) const;
  AnyTensor tensor_at(const Found& place, const Tensors& inputs, const Tensors& values,
                      const Tensors& outputs) const;

  InputAliasing aliasing_;
  Written how_written_;
  std::vector<Part> written_;
  Tensors values_;
  std::size_t first_output_ = 0;  // among the values
  std::vector<Found> outputs_;
  std::vector<std::size_t> grown_inputs_;
  std::vector<std::pair<std::size_t, Found>> moved_inputs_;  // that see something else now
  Tensors captured_;  // of the CPU, that are returned, or seen by what is
};

}  // namespace byre::inline v0::functional
