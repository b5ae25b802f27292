// SPDX-License-Identifier: BSL-1.0
/// InputAliasing: describes which inputs of a program share memory, and which region of it each
/// input views. The pass receives one base for all inputs that share memory, and the inputs as
/// views of the bases.
///
/// RunningInputs: registers the inputs of the programs that a thread runs. Until the program ends,
/// only the program may read and write their memory.
#pragma once

#include <byre/functional/dispatch/any_tensor.hpp>
#include <byre/functional/dispatch/operator.hpp>

#include <cstddef>
#include <vector>

namespace byre::inline BYRE_ABI::functional {

/// A value type. Inputs on the CPU share memory if they share a storage. Tensors of other backends
/// share no memory.
class InputAliasing {
 public:
  /// Throws FunctionalizeError if a storage is shared as bool and as another dtype, if a tracked
  /// reshape split a storage into two view families, or if an input is a tensor of the pass.
  explicit InputAliasing(const Tensors& inputs);

  std::size_t input_count() const noexcept { return base_of_.size(); }
  std::size_t base_count() const noexcept { return bases_.size(); }
  /// The base that an input is a view of.
  std::size_t base_of(std::size_t input) const noexcept { return base_of_[input]; }
  const ViewGeometry& geometry(std::size_t input) const noexcept { return geometries_[input]; }
  const TensorMeta& meta(std::size_t base) const noexcept { return bases_[base].meta; }
  /// The index of the first input that is the same tensor as `input`.
  std::size_t first_occurrence(std::size_t input) const noexcept {
    return first_occurrence_[input];
  }
  /// Whether a base is memory of the CPU, which is written in place. Any other base is rebound.
  bool is_in_memory(std::size_t base) const noexcept { return bases_[base].is_in_memory; }
  /// Whether every base is memory, so that outputs may be views of it.
  bool is_all_in_memory() const noexcept { return is_all_in_memory_; }
  /// The first input that views the base.
  std::size_t input_of(std::size_t base) const noexcept { return bases_[base].input; }

  /// Whether the base has views other than the inputs. If an input grew, these views would keep the
  /// old storage.
  bool has_outside_views(std::size_t base) const noexcept { return bases_[base].has_outside_views; }

  /// Returns the base's elements: a lazy clone on the CPU, otherwise the tensor itself.
  AnyTensor value(std::size_t base, const Tensors& inputs) const;
  Tensors values(const Tensors& inputs) const;
  /// True if the inputs agree in number, sizes, dtypes, shared memory, and in being on the CPU.
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

/// Registers the inputs of a program that this thread runs, as long as this object lives. Objects
/// may nest.
class RunningInputs {
 public:
  explicit RunningInputs(const Tensors& inputs) noexcept;
  RunningInputs(const RunningInputs&) = delete;
  RunningInputs& operator=(const RunningInputs&) = delete;
  ~RunningInputs();

  /// Returns an input that shares memory with `tensor`, or null if there is no such input or
  /// `tensor` is not on the CPU.
  static const AnyTensor* find_sharing(const AnyTensor& tensor) noexcept;

 private:
  const Tensors& inputs_;
  const RunningInputs* const before_;
};

/// For captured tensors that are read. Throws FunctionalizeError if the tensor shares memory with
/// an input of a running program: writes to this input are not in memory yet.
void expect_captured_shares_no_input(const AnyTensor& tensor);

/// For memory that will be written. Throws DispatchError if it shares memory with an input of a
/// running program, because that program has already read the input.
void expect_written_shares_no_running_input(const AnyTensor& tensor, const char* operation);

}  // namespace detail
}  // namespace byre::inline BYRE_ABI::functional
