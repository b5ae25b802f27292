// SPDX-License-Identifier: BSL-1.0
/// InputAliasing: which inputs of a program share memory, and which part each sees. The pass gets
/// one base for each memory, and the inputs as views of those. RunningInputs: the inputs of the programs
/// that a thread runs. Memory that they see is read and written by them alone until the program ends.
#pragma once

#include <byre/functional/dispatch/any_tensor.hpp>
#include <byre/functional/dispatch/operator.hpp>

#include <cstddef>
#include <vector>

namespace byre::inline v0::functional {

/// A value. Inputs of the CPU share memory if they share a storage. Any other tensor is by itself.
class InputAliasing {
 public:
  /// Throws FunctionalizeError for bools that share a storage with another dtype, for a storage
  /// that a tracked reshape made two families of, and for tensors of the pass.
  explicit InputAliasing(const Tensors& inputs);

  std::size_t input_count() const noexcept { return base_of_.size(); }
  std::size_t base_count() const noexcept { return bases_.size(); }
  /// The base that an input is a view of.
  std::size_t base_of(std::size_t input) const noexcept { return base_of_[input]; }
  const ViewGeometry& geometry(std::size_t input) const noexcept { return geometries_[input]; }
  const TensorMeta& meta(std::size_t base) const noexcept { return bases_[base].meta; }
  /// The first input that is the very same tensor.
  std::size_t first_occurrence(std::size_t input) const noexcept {
    return first_occurrence_[input];
  }
  /// Whether a base is memory of the CPU, which is written; what is not is rebound.
  bool is_in_memory(std::size_t base) const noexcept { return bases_[base].is_in_memory; }
  /// Whether every base is memory, of which there are views.
  bool is_all_in_memory() const noexcept { return is_all_in_memory_; }
  /// An input that is of that base.
  std::size_t input_of(std::size_t base) const noexcept { return bases_[base].input; }

  /// Whether there are views of the base that are no inputs, which must not be left behind.
  bool has_outside_views(std::size_t base) const noexcept { return bases_[base].has_outside_views; }

  /// The base's elements: a lazy clone, of the CPU, or the tensor itself.
  AnyTensor value(std::size_t base, const Tensors& inputs) const;
  Tensors values(const Tensors& inputs) const;
  /// True iff other inputs have the same sizes, dtypes and share alike.
  friend bool operator==(const InputAliasing& a, const InputAliasing& b) = default;

 private:
  struct Base {
    TensorMeta meta;
    std::size_t input;
    bool is_in_memory = false;
    bool has_outside_views = false;
    bool operator==(const Base& other) const {
      return meta == other.meta && input == other.input && is_in_memory == other.is_in_memory;
    }
  };

  std::vector<Base> bases_;
  std::vector<std::size_t> base_of_;
  std::vector<std::size_t> first_occurrence_;
  bool is_all_in_memory_ = true;
  std::vector<ViewGeometry> geometries_;
};

namespace detail {

/// The inputs of a program that this thread runs, for as long as this lives. Nests.
class RunningInputs {
 public:
  explicit RunningInputs(const Tensors& inputs) noexcept;
  RunningInputs(const RunningInputs&) = delete;
  RunningInputs& operator=(const RunningInputs&) = delete;
  ~RunningInputs();

  /// An input that shares memory with a tensor of the CPU, or null.
  static const AnyTensor* find_sharing(const AnyTensor& tensor) noexcept;

 private:
  const Tensors& inputs_;
  const RunningInputs* const before_;
};

/// For a captured tensor that is read. Throws FunctionalizeError if it shares memory with an input
/// of a running program: the program's writes to that input are not in memory yet.
void expect_captured_shares_no_input(const AnyTensor& tensor);

/// For memory that is to be written. Throws DispatchError if it shares memory with an input of a
/// running program, which has read it already.
void expect_written_shares_no_running_input(const AnyTensor& tensor, const char* operation);

}  // namespace detail
}  // namespace byre::inline v0::functional
