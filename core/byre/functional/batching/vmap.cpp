// SPDX-License-Identifier: BSL-1.0
#include <byre/functional/backends/cpu.hpp>
#include <byre/functional/batching/batched_tensor.hpp>
#include <byre/functional/batching/vmap.hpp>
#include <byre/functional/dispatch/call.hpp>
#include <byre/sync/immortal.hpp>

#include <boost/thread/lock_guard.hpp>
#include <boost/thread/mutex.hpp>
#include <numeric>

namespace byre::inline v0::functional {
namespace {

struct Levels {
  boost::mutex mutex;
  BatchLevel last = 0;
};

/// Above that of every vmap that has begun, on any thread.
BatchLevel next_level() {
  auto& levels = sync::immortal<Levels>();
  const boost::lock_guard<boost::mutex> lock(levels.mutex);
  return ++levels.last;
}

/// With dimension `from` at `to`, the others in their order.
AnyTensor moved(const AnyTensor& tensor, std::size_t from, std::size_t to) {
  if (from == to) {
    return tensor;
  }
  Dims axes(tensor.ndim());
  std::iota(axes.begin(), axes.end(), 0);
  axes.erase(axes.begin() + from);
  axes.insert(axes.begin() + to, static_cast<std::int64_t>(from));
  return call_for_one("permute_copy", {tensor, axes});
}

bool share_memory(const AnyTensor& a, const AnyTensor& b) {
  const auto* const first = a.as<CpuTensor>();
  const auto* const second = b.as<CpuTensor>();
  return a == b || (first != nullptr && second != nullptr && first->value.aliases(second->value));
}

/// An input, and what the function sees of it.
struct Input {
  AnyTensor given;
  std::optional<std::size_t> axis;  ///< of the batch
  AnyTensor seen;
  AnyTensor value;  ///< behind what is seen, before the function ran

  bool is_written() const { return axis && seen.as<BatchedTensor>()->value() != value; }
};

/// One run of a function over a batch.
class Run {
 public:
  Run(const Tensors& inputs, const BatchAxes& axes) {
    if (!axes.empty() && axes.size() != inputs.size()) {
      throw ArgumentError(format_text("vmap: %zu inputs were given, and axes for %zu.",
                                      inputs.size(), axes.size()));
    }
    const BatchLevel level = next_level();
    for (std::size_t index = 0; index < inputs.size(); ++index) {
      add_input(inputs[index], axes.empty() ? 0 : axes[index], level);
    }
    if (!member_) {
      throw ArgumentError(
          format_text("vmap: no input has a batch. Give an axis for one at least, or call the "
                      "function itself."));
    }
  }

  Tensors seen() const {
    Tensors tensors;
    for (const Input& input : inputs_) {
      tensors.push_back(input.seen);
    }
    return tensors;
  }

  /// What the function did to its inputs, and what it returned, as the caller knows them.
  Tensors finish(const Tensors& results) const {
    std::vector<std::pair<AnyTensor, AnyTensor>> writes;
    for (const Input& input : inputs_) {
      if (input.is_written()) {
        writes.emplace_back(input.given, written(input));
      }
    }
    for (const auto& [given, contents] : writes) {
      if (given.as<CpuTensor>() != nullptr) {
        call("copy_", {given, contents});
      } else {
        given.impl().rebind(contents);
      }
    }
    Tensors returned;
    for (const AnyTensor& result : results) {
      returned.push_back(returned_for(result));
    }
    return returned;
  }

 private:
  void add_input(const AnyTensor& given, std::optional<std::int64_t> at, BatchLevel level) {
    if (!at) {
      inputs_.push_back({given, std::nullopt, given, given});
      return;
    }
    const std::size_t axis = byre::detail::wrap_axis(*at, given.ndim(), "vmap");
    if (given.ndim() == 0) {
      throw ShapeError(
          format_text("vmap: an input of no dimensions has no batch. Give none for its axis."));
    }
    for (const Input& other : inputs_) {
      if (other.given == given && other.axis == axis) {
        inputs_.push_back(other);
        return;
      }
    }
    const AnyTensor value = moved(given, axis, 0);
    inputs_.push_back({given, axis, make_counted<BatchedTensor>(value, level), value});
    member_ = member_ ? member_ : inputs_.back().seen;
    expect_of_batch(value);
  }

  Batch batch() const { return Batch(*member_.as<BatchedTensor>()); }

  void expect_of_batch(const AnyTensor& value) const {
    if (value.sizes().front() != batch().size()) {
      throw ShapeError(format_text(
          "vmap: one input has a batch of %lld, and another of %lld. Give each the axis that is "
          "the "
          "batch's, and none to inputs that are the same for all of it.",
          static_cast<long long>(batch().size()), static_cast<long long>(value.sizes().front())));
    }
  }

  /// What an input that was written is to be. Where that is memory, it has to hold it, and to be of
  /// that input alone.
  AnyTensor written(const Input& input) const {
    AnyTensor contents = moved(input.seen.as<BatchedTensor>()->value(), 0, *input.axis);
    if (input.given.as<CpuTensor>() == nullptr) {
      return contents;
    }
    if (contents.sizes() != input.given.sizes() || contents.dtype() != input.given.dtype()) {
      throw DispatchError(
          format_text("vmap: the function made %s of an input that is %s. Return it instead.",
                      describe(contents).c_str(), describe(input.given).c_str()));
    }
    for (const Input& other : inputs_) {
      if (other.seen != input.seen && share_memory(other.given, input.given)) {
        throw DispatchError(
            format_text("vmap: the function wrote to an input whose memory another input sees, "
                        "which did not change with it. clone() one of them."));
      }
    }
    return contents;
  }

  /// An input, where it was returned as it was given.
  AnyTensor returned_for(const AnyTensor& result) const {
    for (const Input& input : inputs_) {
      if (input.axis == std::size_t{0} && input.seen == result) {
        return input.given;
      }
    }
    return batch().value_of(result);
  }

  std::vector<Input> inputs_;
  AnyTensor member_;  ///< of the batch
};

}  // namespace

Program vmap(Program function, BatchAxes axes) {
  return [function = std::move(function), axes = std::move(axes)](const Tensors& inputs) {
    const Run run(inputs, axes);
    return run.finish(function(run.seen()));
  };
}

}  // namespace byre::inline v0::functional
