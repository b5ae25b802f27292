// SPDX-License-Identifier: BSL-1.0
#include "batch.hpp"

#include <array>
#include <sstream>
#include <string_view>

#include "outcome.hpp"

namespace byre::test {
namespace {

constexpr std::int64_t members = 3;

/// `tensor`, of another content for each member.
Tensor member_of(const Tensor& tensor, std::int64_t member) {
  if (tensor.dtype() == DType::boolean) {
    return member % 2 == 0 ? tensor.clone() : eq(tensor, Scalar(false));
  }
  return add(tensor, Scalar(member)).clone();
}

/// All members of one input.
struct Batch {
  Tensor all;
  std::optional<std::int64_t> axis;  ///< the batch's; none where all members are given the same

  Tensor memory;  ///< of which `all` is the beginning

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
  /// The same apart from all others; what has no batch, in as much memory.
  Tensor member_alone(std::int64_t which) const {
    return axis ? member(which).clone() : beginning_of(memory.clone(), all.sizes());
  }

 private:
  static Tensor beginning_of(const Tensor& memory, const Dims& sizes) {
    const std::int64_t count = contiguous_layout(sizes, "batch").numel();
    return memory.view({memory.numel()}).slice(0, 0, count).view(sizes);
  }
};

/// What vmap says it does not do, from the beginning, or behind the operator's name. All else that
/// it throws is an error of its own.
bool is_of_vmap(std::string_view what) {
  static constexpr std::array refusals = {
      std::string_view("vmap: the function made "),
      std::string_view("vmap: the function wrote to an input whose memory another input sees"),
      std::string_view("vmap: the function wrote to memory that a batch of it"),
      std::string_view(": what is written is another for each of a batch"),
      std::string_view("functionalize: the function wrote to a tensor"),
  };
  return std::any_of(refusals.begin(), refusals.end(),
                     [&](std::string_view refusal) { return what.starts_with(refusal); });
}

/// Inputs of a batch may share memory where those of one member, which are given alone, do not.
bool is_of_shared_inputs(std::string_view what) {
  return what.find("both of which are written, have elements in common") != what.npos;
}

class BatchRun {
 public:
  explicit BatchRun(const Program& program) : program_(program), before_(set_up(program)) {
    std::int64_t turn = 0;
    for (const Ref input : program.inputs) {
      if (before_.contains(input)) {
        const Tensor& tensor = to_cpu(before_.at(input));
        const std::int64_t axis = turn++ % (std::ssize(tensor.sizes()) + 1);
        const bool is_first = names_.empty();
        names_.push_back(input);
        const bool has_axis = is_first || input.step % 2 == 0;
        const bool is_view = !is_first && input.step % 3 == 0;
        batches_.try_emplace(input, tensor, has_axis ? std::optional(axis) : std::nullopt,
                             is_view ? &batches_.at(names_.front()).all : nullptr);
      }
    }
  }

  BatchOutcome outcome(Nesting nesting) {
    if (names_.empty()) {
      return {"", "no inputs"};
    }
    std::vector<OfOne> expected;
    for (std::int64_t member = 0; member < members; ++member) {
      expected.push_back(run_alone(member));
      if (expected.back().trace.happened != expected.front().trace.happened) {
        return {"", "what a member decides"};
      }
    }
    Tensors inputs;
    BatchAxes axes;
    for (const Ref name : names_) {
      inputs.push_back(given_[name] ? given_[name]
                                    : given_[name] = from_cpu(batches_.at(name).all));
      axes.push_back(batches_.at(name).axis);
    }
    Trace trace;
    const functional::Program f = [&](const Tensors& in) {
      return run(program_, names_, in, before_, trace);
    };
    Tensors outputs;
    try {
      outputs = nesting == Nesting::pass_in_vmap ? vmap(functionalize(f), axes)(inputs)
                                                 : functionalize(vmap(f, axes))(inputs);
    } catch (const Error& error) {
      const std::string what = error.what();
      // Up to the tensors, and the sizes of inputs that are no longer what they were.
      return is_of_vmap(what) ? BatchOutcome{"", what.substr(0, what.find_first_of(",;["))}
                              : BatchOutcome{"it failed: " + what, ""};
    }
    if (trace.happened != expected.front().trace.happened) {
      return of_other_steps(expected.front().trace, trace);
    }
    for (std::int64_t member = 0; member < members; ++member) {
      std::string text = difference(expected[static_cast<std::size_t>(member)], outputs, member);
      if (!text.empty()) {
        return {"of member " + std::to_string(member) + ", " + text, ""};
      }
    }
    return {};
  }

 private:
  /// One member by itself.
  struct OfOne {
    Trace trace;
    Tensors outputs;
    Values inputs;
    Tensors seen_elsewhere;  // what is given to all members is, and so it does not grow
  };

  OfOne run_alone(std::int64_t member) const {
    OfOne one;
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
    one.outputs = run(program_, names_, inputs, before_, one.trace);
    return one;
  }

  /// The first step that vmap did not take, or that only vmap took.
  BatchOutcome of_other_steps(const Trace& expected, const Trace& found) const {
    const auto [alone, batched] = std::mismatch(expected.happened.begin(), expected.happened.end(),
                                                found.happened.begin(), found.happened.end());
    const std::string& op =
        program_.body[static_cast<std::size_t>(alone - expected.happened.begin())].op;
    if (*alone == static_cast<char>(Happened::done)) {
      const std::string refusal = refusal_of(found, batched - found.happened.begin(), op);
      if (is_of_vmap(refusal) || (inputs_share_memory() && is_of_shared_inputs(refusal))) {
        return {"", op};
      }
    }
    return {op + ": it does " + found.happened + " and not " + expected.happened + "\n" +
                found.said + "and not\n" + expected.said,
            ""};
  }

  bool inputs_share_memory() const {
    const Tensor& first = batches_.at(names_.front()).memory;
    return std::any_of(batches_.begin(), batches_.end(), [&](const auto& named) {
      return named.first != names_.front() && named.second.memory.aliases(first);
    });
  }

  /// What was said, behind the operator's name, of the step at that place.
  static std::string refusal_of(const Trace& trace, std::ptrdiff_t step, const std::string& op) {
    const auto begin = trace.happened.begin();
    std::istringstream said(trace.said);
    std::string line;
    for (auto left = std::count(begin, begin + step + 1, static_cast<char>(Happened::refused));
         left > 0; --left) {
      std::getline(said, line);
    }
    const std::string before = "  " + op + " is refused: " + op;
    return line.starts_with(before) ? line.substr(before.size()) : line;
  }

  static std::string difference(const Tensor& expected, const Tensor& found) {
    if (expected.dtype() != found.dtype() || expected.sizes() != found.sizes()) {
      return " is " + std::string(byre::name_of(found.dtype())) + byre::to_string(found.sizes()) +
             " and should be " + byre::name_of(expected.dtype()) +
             byre::to_string(expected.sizes());
    }
    return elements_of(expected) == elements_of(found)
               ? ""
               : " is\n" + byre::to_string(found) + "\nand should be\n" + byre::to_string(expected);
  }

  std::string difference(const OfOne& expected, const Tensors& outputs, std::int64_t member) const {
    if (outputs.size() != expected.outputs.size()) {
      return "there are " + std::to_string(outputs.size()) + " outputs";
    }
    for (std::size_t index = 0; index < outputs.size(); ++index) {
      const std::string text =
          difference(to_cpu(expected.outputs[index]), to_cpu(outputs[index]).select(0, member));
      if (!text.empty()) {
        return "output " + std::to_string(index) + text;
      }
    }
    for (const auto& [name, batch] : batches_) {
      const Tensor found = batch.axis ? batch.member(member) : to_cpu(given_.at(name));
      const std::string text = difference(to_cpu(expected.inputs.at(name)), found);
      if (!text.empty()) {
        return "the input t" + std::to_string(name.step) + text;
      }
    }
    return {};
  }

  const Program& program_;
  const Values before_;
  std::vector<Ref> names_;  // of the inputs, one as often as it is given
  std::map<Ref, Batch> batches_;
  Values given_;
};

}  // namespace

BatchOutcome run_batch(const Program& program, Nesting nesting) {
  return BatchRun(program).outcome(nesting);
}

}  // namespace byre::test
