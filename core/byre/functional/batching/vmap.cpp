// SPDX-License-Identifier: BSL-1.0
#include <byre/functional/batching/detail/batched_tensor.hpp>
#include <byre/functional/batching/vmap.hpp>
#include <byre/functional/dispatch/call.hpp>
#include <byre/functional/dispatch/cpu_tensor.hpp>
#include <byre/functional/dispatch/guards.hpp>
#include <byre/functional/functionalize/detail/input_aliasing.hpp>
#include <byre/functional/functionalize/detail/pass.hpp>
#include <byre/functional/functionalize/detail/write_back.hpp>
#include <byre/sync/detail/relaxed.hpp>

#include <new>
#include <numeric>

namespace byre::inline BYRE_ABI::functional {
namespace {

/// The number of vmap() calls that have begun on any thread. It gives each call a higher level than
/// all earlier calls.
constinit sync::detail::RelaxedCounter vmaps_begun;

/// Returns the permutation that moves dimension `from` to `to`.
Dims moved_axes(std::size_t ndim, std::size_t from, std::size_t to) {
  Dims axes(ndim);
  std::iota(axes.begin(), axes.end(), 0);
  axes.erase(axes.begin() + from);
  axes.insert(axes.begin() + to, static_cast<std::int64_t>(from));
  return axes;
}

/// Moves a dimension of a value, below the pass.
AnyTensor with_moved_axis(const AnyTensor& tensor, std::size_t from, std::size_t to) {
  if (from == to) {
    return tensor;
  }
  const ExcludeKeys pass(Key::functionalize);
  return call_for_one("permute_copy", {tensor, moved_axes(tensor.ndim(), from, to)});
}

/// Moves a dimension. If the tensor is in memory, returns a view: writes to this memory through
/// tensors without a batch are then visible in the batch. The view does not change if such a tensor
/// is resized or set.
AnyTensor view_with_moved_axis(const AnyTensor& tensor, std::size_t from, std::size_t to) {
  if (const CpuTensor* const on_cpu = tensor.as<CpuTensor>()) {
    return from_cpu(on_cpu->value.permute(moved_axes(tensor.ndim(), from, to)));
  }
  if (const BatchedTensor* const outer = tensor.as<BatchedTensor>()) {
    return make_counted<BatchedTensor>(view_with_moved_axis(outer->value(), from + 1, to + 1),
                                       outer->batch_level());
  }
  return with_moved_axis(tensor, from, to);
}

/// An input, and the tensors that represent it in the function.
struct Input {
  AnyTensor given;
  std::optional<std::size_t> axis;  ///< the dimension of the batch, if there is one
  AnyTensor seen;     ///< the function's argument: `batched`, or a tensor of the pass that wraps it
  AnyTensor batched;  ///< the initial batched tensor
  AnyTensor value;    ///< the value of `batched`, with the batch as dimension 0
  FunctionalTensor::AliasHandle alias;  ///< alias of `given` if `given` is a tensor of the pass
  std::uint64_t generation = 0;         ///< generation of the alias when the batch was created
  bool is_repeated = false;             ///< an earlier input is the same tensor with the same axis
};

/// One run of a function over a batch.
class BatchRun {
 public:
  BatchRun(const Tensors& inputs, const BatchAxes& axes) : level_(vmaps_begun.add() + 1) {
    if (!axes.empty() && axes.size() != inputs.size()) {
      throw ArgumentError(format_text("vmap: %zu inputs, %zu axes. Pass one axis per input.",
                                      inputs.size(), axes.size()));
    }
    for (std::size_t index = 0; index < inputs.size(); ++index) {
      add_input(inputs[index], axes.empty() ? 0 : axes[index]);
    }
    if (!member_) {
      throw ArgumentError(
          format_text("vmap: no input has a batch. Pass an axis for at least one, or call the "
                      "function itself."));
    }
  }

  Tensors call(const Program& function) const {
    Tensors seen;
    // The inputs with a batch, except tensors of the pass, because the pass handles their memory.
    Tensors batched_inputs;
    for (const Input& input : inputs_) {
      seen.push_back(input.seen);
      if (input.axis && !is_within_pass(input.given)) {
        batched_inputs.push_back(input.given);
      }
    }
    const detail::RunningInputs running(batched_inputs);
    const ThreadKeys keys = thread_keys();
    const ThreadKeysScope within({keys.included, keys.excluded, level_});
    return function(seen);
  }

  /// Writes the inputs and returns the results as tensors of the caller, that is, outside this
  /// batch.
  Tensors finish(const Tensors& results) const {
    detail::expect_tensors(results, "vmap", "the returned tensors");
    WriteBack writes("vmap");
    Tensors returned;
    for (const AnyTensor& result : results) {
      returned.push_back(output_for(result));
    }
    for (const Input& input : inputs_) {
      expect_memory_unwritten(input);
      if (const AnyTensor contents = new_contents_of(input)) {
        writes.write(is_within_pass(input.given) ? detail::functional(input.given) : input.given,
                     contents);
      }
    }
    writes.commit();
    return returned;
  }

 private:
  static bool is_within_pass(const AnyTensor& tensor) noexcept {
    return tensor.as<FunctionalTensor>() != nullptr ||
           thread_keys().included.has(Key::functionalize);
  }

  void add_input(const AnyTensor& given, std::optional<std::int64_t> at) {
    if (!at) {
      inputs_.push_back({given, std::nullopt, given, {}, {}, {}});
      return;
    }
    const std::size_t axis = byre::detail::wrap_axis(*at, given.ndim(), "vmap");
    if (given.ndim() == 0) {
      throw ShapeError(
          format_text("vmap: an input without dimensions has no batch. Pass no axis for it."));
    }
    for (const Input& other : inputs_) {
      if (other.given == given && other.axis == axis) {
        Input repeated = other;
        repeated.is_repeated = true;
        inputs_.push_back(std::move(repeated));
        return;
      }
    }
    if (is_within_pass(given)) {
      detail::expect_captured_shares_no_input(given);
    }
    Input input{given, axis, {}, {}, {}, {}};
    if (auto* const held = given.as<FunctionalTensor>()) {
      input.alias = held->alias();
      input.generation = input.alias->generation();
    }
    input.value = is_within_pass(given) ? with_moved_axis(from_functional(given), axis, 0)
                                        : view_with_moved_axis(given, axis, 0);
    input.batched = make_counted<BatchedTensor>(input.value, level_);
    input.seen = is_within_pass(given) ? to_functional(input.batched) : input.batched;
    member_ = member_ ? member_ : input.batched;
    expect_of_batch(input.value);
    inputs_.push_back(std::move(input));
  }

  Batch batch() const { return Batch(*member_.as<BatchedTensor>()); }

  void expect_of_batch(const AnyTensor& value) const {
    if (value.sizes().front() != batch().size()) {
      throw ShapeError(format_text(
          "vmap: the batch sizes %lld and %lld differ. Pass the batch axis of each input, and no "
          "axis for an input without a batch.",
          static_cast<long long>(batch().size()), static_cast<long long>(value.sizes().front())));
    }
  }

  /// Within the pass, a batch holds the value that the input had at the call of vmap(). The batch
  /// would miss later writes through an input without an axis or through a captured tensor.
  static void expect_memory_unwritten(const Input& input) {
    if (input.alias != nullptr && input.alias->generation() != input.generation) {
      throw DispatchError(
          format_text("vmap: the function wrote memory of a batch, %s, through a tensor without a "
                      "batch: the batch missed the write. Call clone() on one of them.",
                      describe(input.given).c_str()));
    }
  }

  /// Returns the new contents of an input, or an empty handle if the function did not write it.
  /// Throws DispatchError if the input is in memory or within the pass, and its sizes or dtype
  /// changed or another input shares its memory.
  AnyTensor new_contents_of(const Input& input) const {
    if (!input.axis || input.is_repeated) {
      return {};
    }
    const AnyTensor now = from_functional(input.seen);
    if (now == input.batched && input.batched.as<BatchedTensor>()->value() == input.value) {
      return {};
    }
    AnyTensor contents = with_batch_at(*input.axis, now);
    if (input.given.as<CpuTensor>() == nullptr && !is_within_pass(input.given)) {
      return contents;
    }
    if (contents.sizes() != input.given.sizes() || contents.dtype() != input.given.dtype()) {
      throw DispatchError(format_text(
          "vmap: the function changed an input from %s to %s. Return the result instead.",
          describe(input.given).c_str(), describe(contents).c_str()));
    }
    for (const Input& other : inputs_) {
      if (other.seen != input.seen && share_memory(other.given, input.given)) {
        throw DispatchError(
            format_text("vmap: the function wrote an input that shares memory with another input, "
                        "which missed the write. Call clone() on one of them."));
      }
    }
    return contents;
  }

  /// Returns the value of the whole batch, with the batch as dimension `axis`, below the pass.
  AnyTensor with_batch_at(std::size_t axis, const AnyTensor& of_each) const {
    const ExcludeKeys pass(Key::functionalize);
    return with_moved_axis(batch().value_of(of_each), 0, axis);
  }

  /// Returns the input if the function returned it unchanged, otherwise a tensor that shares no
  /// memory with an input.
  AnyTensor output_for(const AnyTensor& result) const {
    bool is_input = false;
    for (const Input& input : inputs_) {
      is_input = is_input || input.seen == result;
      if (input.axis == std::size_t{0} && input.seen == result) {
        return input.given;
      }
    }
    const AnyTensor value = with_batch_at(0, from_functional(result));
    if (is_within_pass(result)) {
      return to_functional(value);
    }
    if (const CpuTensor* const on_cpu = value.as<CpuTensor>()) {
      return from_cpu(packed(on_cpu->value));
    }
    const bool sees_input = is_input && value.as<BatchedTensor>() != nullptr;
    return sees_input ? call_for_one("clone", {value}) : value;
  }

  const BatchLevel level_;
  std::vector<Input> inputs_;
  AnyTensor member_;  ///< any input with a batch, as a batched tensor
};

Tensors run_over_batch(const Program& function, const BatchAxes& axes, const Tensors& inputs) try {
  detail::expect_tensors(inputs, "vmap", "the inputs");
  const BatchRun run(inputs, axes);
  return run.finish(run.call(function));
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("vmap");
}

}  // namespace

Program vmap(Program function, BatchAxes axes) try {
  detail::expect_program(function, "vmap");
  return [function = std::move(function), axes = std::move(axes)](const Tensors& inputs) {
    return run_over_batch(function, axes, inputs);
  };
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("vmap");
}

}  // namespace byre::inline BYRE_ABI::functional
