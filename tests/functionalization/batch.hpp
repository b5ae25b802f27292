// SPDX-License-Identifier: BSL-1.0
/// A batch of the inputs of a program, and what the program does to each of it by itself.
#pragma once

#include <ostream>

#include "targets.hpp"
#include "tensor_programs/generate.hpp"

namespace byre::test {

/// How a program is run on a batch, or on batches of batches.
struct BatchTarget {
  using Transform = functional::Program (*)(const functional::Program&);

  const char* name;
  Flavor flavor;        ///< of the programs
  Transform of_member;  ///< within the innermost vmap
  Transform of_all;     ///< around all vmaps
  bool is_nested = false;
  bool is_opaque = false;

  friend void PrintTo(const BatchTarget& target, std::ostream* out) { *out << target.name; }
};

inline constexpr std::int64_t members = 3;
inline constexpr std::int64_t outer_members = 2;

/// `tensor`, with other elements for each member.
inline Tensor member_of(const Tensor& tensor, std::int64_t member) {
  if (tensor.dtype() == DType::boolean) {
    return member % 2 == 0 ? tensor.clone() : eq(tensor, Scalar(false));
  }
  return add(tensor, Scalar(member)).clone();
}

/// All members of one input.
struct Batch {
  Tensor all;
  std::optional<std::int64_t> axis;  ///< the batch's; none where all members are given the same

  Tensor memory;  ///< `all` is its beginning

  Batch(const Tensor& tensor, std::optional<std::int64_t> at, const Tensor* shared) : axis(at) {
    Dims sizes = tensor.sizes();
    if (axis) {
      sizes.insert(sizes.begin() + *axis, members);
    }
    all = memory = Tensor::zeros(sizes, tensor.dtype());
    if (shared != nullptr && shared->dtype() == all.dtype() && shared->numel() >= all.numel()) {
      memory = *shared;
      all = beginning_of(memory, sizes);
    } else if (axis) {
      for (std::int64_t which = 0; which < members; ++which) {
        Tensor part = member(which);
        copy_(part, member_of(tensor, which));
      }
    } else {
      copy_(all, tensor);
    }
  }
  Tensor member(std::int64_t which) const { return axis ? all.select(*axis, which) : all; }
  /// A copy of the member. An input without a batch keeps the size of its memory.
  Tensor member_alone(std::int64_t which) const {
    return axis ? member(which).clone() : beginning_of(memory.clone(), all.sizes());
  }

 private:
  static Tensor beginning_of(const Tensor& memory, const Dims& sizes) {
    const std::int64_t count = contiguous_layout(sizes, "batch").numel();
    return memory.view({memory.numel()}).slice(0, 0, count).view(sizes);
  }
};

/// One member by itself.
struct Alone {
  Trace trace;
  Tensors outputs;
  Values inputs;
  Tensors seen_elsewhere;  // what is given to all members is, and so it does not grow
};

/// A batch of inputs, and what each member makes of its own.
class BatchOfInputs {
 public:
  /// One of several, by number, which differ but for inputs that all of them have.
  BatchOfInputs(const Program& program, const BatchTarget& target, std::int64_t number)
      : program_(program), before_(set_up(program)) {
    std::int64_t turn = 0;
    for (const Ref input : program.inputs) {
      if (!before_.contains(input)) {
        continue;
      }
      const Tensor& tensor = to_cpu(before_.at(input));
      const std::int64_t axis = turn++ % (std::ssize(tensor.sizes()) + 1);
      const bool is_first = names_.empty();
      names_.push_back(input);
      const bool has_axis = is_first || input.step % 2 == 0;
      const bool is_view = !is_first && input.step % 3 == 0 && !target.is_nested;
      batches_.try_emplace(input, differs(input) ? member_of(tensor, number * members) : tensor,
                           has_axis ? std::optional(axis) : std::nullopt,
                           is_view ? &batches_.at(names_.front()).all : nullptr);
    }
    for (std::int64_t member = 0; member < members && !names_.empty(); ++member) {
      alone_.push_back(run_alone(member));
    }
  }

  /// The names of the inputs, each as often as it is given.
  const std::vector<Ref>& names() const { return names_; }
  const Batch& operator[](Ref name) const { return batches_.at(name); }
  const std::vector<Alone>& alone() const { return alone_; }
  bool differs(Ref name) const { return name == names_.front() || name.step % 3 != 0; }

  Tensors run_on(const Tensors& inputs, Trace& trace) const {
    return run(program_, names_, inputs, before_, trace);
  }

  bool inputs_share_memory() const {
    const Tensor& first = batches_.at(names_.front()).memory;
    return std::any_of(batches_.begin(), batches_.end(), [&](const auto& named) {
      return named.first != names_.front() && named.second.memory.aliases(first);
    });
  }

  /// Compares the inputs as they are now. Those without a batch are in `given`.
  std::string difference_of_inputs(std::int64_t member, const Values& given) const {
    for (const auto& [name, batch] : batches_) {
      const Tensor found = batch.axis ? batch.member(member) : to_cpu(given.at(name));
      const auto& alone = alone_[static_cast<std::size_t>(member)];
      const std::string text = difference(to_cpu(alone.inputs.at(name)), found);
      if (!text.empty()) {
        return "the input " + to_string(name) + text;
      }
    }
    return {};
  }

  static std::string difference(const Tensor& expected, const Tensor& found) {
    if (expected.dtype() != found.dtype() || expected.sizes() != found.sizes()) {
      return " is " + std::string(byre::name_of(found.dtype())) + byre::to_string(found.sizes()) +
             " and should be " + byre::name_of(expected.dtype()) +
             byre::to_string(expected.sizes());
    }
    return have_same_elements(expected, found)
               ? ""
               : " is\n" + byre::to_string(found) + "\nand should be\n" + byre::to_string(expected);
  }

 private:
  Alone run_alone(std::int64_t member) const {
    Alone one;
    Tensors inputs;
    for (const Ref name : names_) {
      const auto [found, is_new] = one.inputs.try_emplace(name);
      if (is_new) {
        const Batch& batch = batches_.at(name);
        found->second = from_cpu(batch.member_alone(member));
        if (!batch.axis) {
          one.seen_elsewhere.push_back(from_cpu(to_cpu(found->second)));
        }
      }
      inputs.push_back(found->second);
    }
    one.outputs = run_on(inputs, one.trace);
    return one;
  }

  const Program& program_;
  const Values before_;
  std::vector<Ref> names_;
  std::map<Ref, Batch> batches_;
  std::vector<Alone> alone_;
};

}  // namespace byre::test
