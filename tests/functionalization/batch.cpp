// SPDX-License-Identifier: BSL-1.0
#include "batch.hpp"

#include <array>
#include <sstream>
#include <string_view>

#include "outcome.hpp"
#include "support/functional/opaque_backend.hpp"

namespace byre::test {
namespace {

constexpr std::int64_t members = 3;
constexpr std::int64_t outer_members = 2;

/// `tensor`, with other elements for each member.
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
    return elements_of(expected) == elements_of(found)
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

/// The text of the refusal of that step, behind the operator's name.
std::string refusal_of(const Trace& trace, std::ptrdiff_t step, const std::string& op) {
  const auto begin = trace.happened.begin();
  std::istringstream said(trace.said);
  std::string line;
  for (auto left = std::count_if(begin, begin + step + 1, is_refusal); left > 0; --left) {
    std::getline(said, line);
  }
  const std::string before = "  " + op + " is refused: " + op;
  return line.starts_with(before) ? line.substr(before.size()) : line;
}

/// All refusals alike: vmap may have a reason of its own.
std::string steps_done(std::string happened) {
  std::replace_if(happened.begin(), happened.end(), is_refusal,
                  static_cast<char>(Happened::refused));
  return happened;
}

/// The first step that vmap did not take, or that only vmap took.
BatchOutcome of_other_steps(const Program& program, const BatchOfInputs& batch,
                            const Trace& expected, const Trace& found) {
  const std::string of_alone = steps_done(expected.happened);
  const std::string of_batch = steps_done(found.happened);
  const auto [alone, batched] =
      std::mismatch(of_alone.begin(), of_alone.end(), of_batch.begin(), of_batch.end());
  const std::string& op = program.body[static_cast<std::size_t>(alone - of_alone.begin())].op;
  if (*alone == static_cast<char>(Happened::done)) {
    const std::string refusal = refusal_of(found, batched - of_batch.begin(), op);
    if (is_of_vmap(refusal) || (batch.inputs_share_memory() && is_of_shared_inputs(refusal))) {
      return {"", op};
    }
  }
  return {op + ": it does " + found.happened + " and not " + expected.happened + "\n" + found.said +
              "and not\n" + expected.said,
          ""};
}

}  // namespace

BatchOutcome run_batch(const Program& program, const BatchTarget& target) {
  std::vector<BatchOfInputs> batches;
  for (std::int64_t number = 0; number < (target.is_nested ? outer_members : 1); ++number) {
    batches.emplace_back(program, target, number);
  }
  const BatchOfInputs& first = batches.front();
  if (first.names().empty()) {
    return {"", "no inputs"};
  }
  const Trace& expected = first.alone().front().trace;
  for (const BatchOfInputs& batch : batches) {
    for (const Alone& alone : batch.alone()) {
      if (alone.trace.happened != expected.happened) {
        return {"", "what a member decides"};
      }
    }
  }
  Values given;
  Tensors inputs;
  BatchAxes axes;
  BatchAxes outer_axes;
  for (const Ref name : first.names()) {
    const bool is_of_all = target.is_nested && first.differs(name);
    axes.push_back(first[name].axis);
    outer_axes.push_back(is_of_all ? std::optional<std::int64_t>(0) : std::nullopt);
    if (!given.contains(name)) {
      std::vector<Tensor> parts;
      for (const BatchOfInputs& batch : batches) {
        parts.push_back(batch[name].all.unsqueeze(0));
      }
      const Tensor all = is_of_all ? cat(parts, 0) : first[name].all;
      given[name] = target.is_opaque ? to_opaque(all) : from_cpu(all);
    }
    inputs.push_back(given.at(name));
  }
  Trace trace;
  functional::Program batched =
      vmap(target.of_member([&](const Tensors& in) { return first.run_on(in, trace); }), axes);
  if (target.is_nested) {
    batched = vmap(batched, outer_axes);
  }
  Tensors outputs;
  try {
    outputs = target.of_all(batched)(inputs);
  } catch (const Error& error) {
    const std::string what = error.what();
    // Tensors follow, and sizes of inputs, which differ from program to program.
    return is_of_vmap(what) ? BatchOutcome{"", what.substr(0, what.find_first_of(",;["))}
                            : BatchOutcome{"it failed: " + what, ""};
  }
  if (steps_done(trace.happened) != steps_done(expected.happened)) {
    return of_other_steps(program, first, expected, trace);
  }
  for (std::int64_t number = 0; number < std::ssize(batches); ++number) {
    const BatchOfInputs& batch = batches[static_cast<std::size_t>(number)];
    for (std::int64_t member = 0; member < members; ++member) {
      const Alone& alone = batch.alone()[static_cast<std::size_t>(member)];
      std::string text = outputs.size() == alone.outputs.size() ? "" : "there are other outputs";
      for (std::size_t index = 0; index < outputs.size() && text.empty(); ++index) {
        const Tensor all = target.is_opaque ? from_opaque(outputs[index]) : to_cpu(outputs[index]);
        const Tensor of_one = target.is_nested ? all.select(0, number) : all;
        text = BatchOfInputs::difference(to_cpu(alone.outputs[index]), of_one.select(0, member));
        text = text.empty() ? text : "output " + std::to_string(index) + text;
      }
      if (text.empty() && target.flavor == Flavor::anything) {
        text = batch.difference_of_inputs(member, given);
      }
      if (!text.empty()) {
        return {"of member " + std::to_string(member) + ", " + text, ""};
      }
    }
  }
  return {"", "", expected.happened};
}

}  // namespace byre::test
