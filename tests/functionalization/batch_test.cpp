// SPDX-License-Identifier: BSL-1.0
// Random programs under vmap: one run over a batch must have the results and effects of a run per
// member. The test counts programs that vmap rejects.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <ostream>

#include "support/functional/opaque_backend.hpp"
#include "support/random.hpp"
#include "targets.hpp"
#include "tensor_programs/generate.hpp"
#include "tensor_programs/random_calls.hpp"

namespace byre::test {
namespace {

/// The number of members of a batch, and the number of batches in a batch of batches. The members
/// of a batch of batches are numbered from 0 to outer_size * batch_size - 1.
constexpr std::size_t batch_size = 3;
constexpr std::size_t outer_size = 2;

/// How to run a program on a batch, or on a batch of batches.
struct BatchTarget {
  using Transform = functional::Program (*)(const functional::Program&);

  const char* name;
  Flavor flavor;        ///< flavor of the generated programs
  Transform of_member;  ///< applied within the innermost vmap
  Transform of_all;     ///< applied around all vmaps
  bool is_nested = false;
  bool is_opaque = false;

  std::size_t members() const { return (is_nested ? outer_size : 1) * batch_size; }
  friend void PrintTo(const BatchTarget& target, std::ostream* out) { *out << target.name; }
};

/// Returns a copy of `tensor` with elements that depend on `number`.
Tensor altered(const Tensor& tensor, std::size_t number) {
  if (tensor.dtype() == DType::boolean) {
    return number % 2 == 0 ? tensor.clone() : eq(tensor, Scalar(false));
  }
  return add(tensor, Scalar(static_cast<std::int64_t>(number))).clone();
}

Tensor beginning_of(const Tensor& memory, const Dims& sizes) {
  const std::int64_t count = contiguous_layout(sizes, "batch").numel();
  return memory.view({memory.numel()}).slice(0, 0, count).view(sizes);
}

/// One input of the run over the batch and of the runs per member.
struct Input {
  BatchAxes::value_type axis{};        ///< the batch's axis; empty if members share one tensor
  BatchAxes::value_type outer_axis{};  ///< axis of a batch of batches
  Tensor memory{};                     ///< the memory that begins with `all`
  Tensor all{};
  AnyTensor given{};
  Tensors member_copies{};  ///< indexed by member
  /// Second handles of the copies of an input without a batch. They make resize_ beyond the storage
  /// fail, as it does in the run over the batch, where all members share the input.
  std::vector<Tensor> seen_elsewhere{};

  /// Fills `all`: with the beginning of `shared` if `shared` is large enough, otherwise with values
  /// derived from `tensor` that differ for each member of the batch.
  void fill(const Tensor& tensor, const Tensor* shared, const BatchTarget& target) {
    Dims sizes = tensor.sizes();
    if (axis) {
      sizes.insert(sizes.begin() + *axis, batch_size);
    }
    if (outer_axis) {
      sizes.insert(sizes.begin() + *outer_axis, outer_size);
    }
    all = memory = Tensor::zeros(sizes, tensor.dtype());
    if (shared != nullptr && shared->dtype() == all.dtype() && shared->numel() >= all.numel()) {
      memory = *shared;
      all = beginning_of(memory, sizes);
    } else {
      for (std::size_t member = 0; member < target.members(); ++member) {
        const std::size_t inner = member % batch_size;
        Tensor part = part_of(all, member);
        copy_(part, altered(tensor, (outer_axis ? member - inner : 0) + (axis ? inner : 0)));
      }
    }
    given = target.is_opaque ? to_opaque(all) : from_cpu(all);
    for (std::size_t member = 0; member < target.members(); ++member) {
      // The storage of an input without a batch has the size of `memory`, which limits resize_.
      const Tensor copy =
          axis || outer_axis ? part_of(all, member).clone() : beginning_of(memory.clone(), sizes);
      member_copies.push_back(from_cpu(copy));
      if (!axis) {
        seen_elsewhere.push_back(copy);
      }
    }
  }
  Tensor part_of(const Tensor& whole, std::size_t member) const {
    const auto outer = static_cast<std::int64_t>(member / batch_size);
    const auto inner = static_cast<std::int64_t>(member % batch_size);
    const Tensor batch = outer_axis ? whole.select(*outer_axis, outer) : whole;
    return axis ? batch.select(*axis, inner) : batch;
  }
};

/// The inputs of a program. Their batches have different axes. Some inputs have no batch, and some
/// are views of the first input's memory. Captured tensors have no batch. In the runs per member,
/// no inputs share memory, because vmap rejects writes to inputs that share memory.
struct Inputs {
  std::vector<Ref> names;  ///< contains an input as often as it is passed
  std::map<Ref, Input> by_name;

  Inputs(const Program& program, const Values& before, const BatchTarget& target) {
    for (const Ref name : program.inputs) {
      if (!before.contains(name)) {
        continue;
      }
      names.push_back(name);
      const auto [named, is_new] = by_name.try_emplace(name);
      if (is_new) {
        const Tensor& tensor = to_cpu(before.at(name));
        const bool is_first = names.size() == 1;
        // if nested, an input without an outer batch; otherwise a view of the first input's memory
        const bool is_special = !is_first && name.step % 3 == 0;
        Input& input = named->second;
        if (is_first || name.step % 2 == 0) {
          input.axis = std::ssize(names) % (std::ssize(tensor.sizes()) + 1);
        }
        input.outer_axis = target.is_nested && !is_special ? std::optional(0) : std::nullopt;
        input.fill(tensor, is_special && !target.is_nested ? &first().all : nullptr, target);
      }
    }
  }

  const Input& first() const { return by_name.at(names.front()); }
  bool share_memory() const {
    return std::ranges::any_of(by_name, [this](const auto& named) {
      return named.first != names.front() && named.second.memory.aliases(first().memory);
    });
  }
  template <class Of>
  auto each(const Of& of) const {
    std::vector<std::remove_cvref_t<std::invoke_result_t<Of, const Input&>>> all;
    std::ranges::transform(names, std::back_inserter(all),
                           [&](Ref name) { return std::invoke(of, by_name.at(name)); });
    return all;
  }
};

std::string difference(const AnyTensor& of_alone, const Tensor& found) {
  const Tensor& expected = to_cpu(of_alone);
  const bool has_same = expected.dtype() == found.dtype() && have_same_elements(expected, found);
  const auto described = [](const Tensor& tensor) {
    return byre::name_of(tensor.dtype()) + byre::to_string(tensor.sizes()) + " " +
           byre::to_string(tensor) + "\n";
  };
  return has_same ? "" : " is\n" + described(found) + "but should be\n" + described(expected);
}

struct BatchOutcome {
  /// Differences from the runs per member, in outputs and inputs.
  std::string difference{};
  /// The operator that vmap rejects; "vmap" if it rejects the program as a whole.
  std::string refused_by{};
  /// The result of each step in a run per member.
  std::string happened{};
};

/// Whether vmap documents the rejection with the message `what`. `inputs_share_memory` tells
/// whether inputs of the run over the batch share memory. Any other error is a failure.
bool is_rejection_of_vmap(const std::string& what, bool inputs_share_memory) {
  static constexpr std::array refusals = {
      "vmap: the function changed an input",
      "vmap: the function wrote an input that shares memory with another",
      "vmap: the function wrote memory of a batch",
      ": cannot write one value per batch member to ",
      ", an input of the enclosing vmap() or program",
  };
  return std::ranges::any_of(
             refusals, [&](const char* refusal) { return what.find(refusal) != what.npos; }) ||
         (inputs_share_memory && what.find(" are both written and overlap") != what.npos);
}

BatchOutcome run_batch(const Program& program, const BatchTarget& target) {
  const Values before = set_up(program);
  const Inputs inputs(program, before, target);
  if (inputs.names.empty()) {
    return {"", "no inputs"};
  }
  const auto run_with = [&](const Tensors& given, Trace& trace) {
    return run(program, inputs.names, given, before, trace);
  };
  Trace expected;  // trace of the last member; all members must have equal step results
  std::vector<Tensors> member_outputs;
  for (std::size_t member = 0; member < target.members(); ++member) {
    const auto of_member = [=](const Input& input) { return input.member_copies[member]; };
    Trace trace;
    member_outputs.push_back(run_with(inputs.each(of_member), trace));
    if (member != 0 && trace.results != expected.results) {
      return {"", "decisions that differ between members"};
    }
    expected = trace;
  }
  Trace found;
  functional::Program batched =
      vmap(target.of_member([&](const Tensors& given) { return run_with(given, found); }),
           inputs.each(&Input::axis));
  if (target.is_nested) {
    batched = vmap(batched, inputs.each(&Input::outer_axis));
  }
  Tensors outputs;
  try {
    outputs = target.of_all(batched)(inputs.each(&Input::given));
  } catch (const Error& error) {
    const std::string what = error.what();
    // The rest of the text contains tensors and sizes, which differ between programs.
    return is_rejection_of_vmap(what, false)
               ? BatchOutcome{"", what.substr(0, what.find_first_of(",;["))}
               : BatchOutcome{"it failed: " + what, ""};
  }
  for (std::size_t step = 0; step < program.body.size(); ++step) {
    const char expected_result = expected.results[step];
    const char result = found.results[step];
    if (result != expected_result &&
        !(is_refusal(result) &&
          is_refusal(expected_result))) {  // both rejected the step; the errors may differ
      const std::string& op = program.body[step].op;
      return expected_result == static_cast<char>(StepResult::done) &&
                     is_rejection_of_vmap(found.messages[step], inputs.share_memory())
                 ? BatchOutcome{"", op}
                 : BatchOutcome{op + ": it does " + to_string(found) + "but should do " +
                                    to_string(expected),
                                ""};
    }
  }
  const Input output{.axis = 0, .outer_axis = target.is_nested ? std::optional(0) : std::nullopt};
  for (std::size_t member = 0; member < member_outputs.size(); ++member) {
    if (outputs.size() != member_outputs[member].size()) {
      return {"the number of outputs differs", ""};
    }
    std::string text;
    for (std::size_t index = 0; index < outputs.size(); ++index) {
      const Tensor all = target.is_opaque ? from_opaque(outputs[index]) : to_cpu(outputs[index]);
      text += difference(member_outputs[member][index], output.part_of(all, member));
    }
    for (const auto& [name, input] : inputs.by_name) {
      if (target.flavor == Flavor::anything) {
        text += difference(input.member_copies[member], input.part_of(to_cpu(input.given), member));
      }
    }
    if (!text.empty()) {
      return {"of member " + std::to_string(member) + ", outputs and then inputs:" + text, ""};
    }
  }
  return {"", "", expected.results};
}

functional::Program plain(const functional::Program& f) {
  return f;
}
functional::Program functionalized(const functional::Program& f) {
  return functionalize(f);
}
functional::Program captured(const functional::Program& f) {
  return [f](const Tensors& in) { return functional::capture(f, in)(in); };
}

constexpr BatchTarget batch_targets[] = {
    {"with_the_pass_in_vmap", Flavor::anything, functionalized, plain},
    {"with_vmap_in_the_pass", Flavor::anything, plain, functionalized},
    {"of_pure_operators", Flavor::pure, plain, plain},
    {"of_pure_operators_on_opaques", Flavor::pure, plain, plain, false, true},
    {"of_batches", Flavor::pure, plain, plain, true},
    {"of_batches_in_the_pass", Flavor::pure, plain, functionalized, true},
    {"of_batches_captured", Flavor::pure, plain, captured, true}};

class Batches : public testing::TestWithParam<BatchTarget> {};

TEST_P(Batches, vmap_of_a_batch_equals_one_run_per_member) {
  const BatchTarget& target = GetParam();
  const auto count =
      static_cast<unsigned>(program_count() / (target.flavor == Flavor::pure ? 10 : 4));
  const std::uint64_t first = seed();
  std::map<std::string, unsigned> refused;
  std::map<std::string, unsigned> done;
  unsigned refusals = 0;
  for (std::uint64_t number = first; number < first + count; ++number) {
    const Program program = generate(number, target.flavor);
    const BatchOutcome outcome = run_batch(program, target);
    const auto failure_of = [&](const Program& each) { return run_batch(each, target).difference; };
    ASSERT_TRUE(outcome.difference.empty())
        << "BYRE_TEST_SEED=" << number << ": " << smallest_failure(program, failure_of);
    if (!outcome.refused_by.empty()) {
      ++refused[outcome.refused_by];
      ++refusals;
    }
    for (std::size_t step = 0; step < outcome.happened.size(); ++step) {
      done[program.body[step].op] += outcome.happened[step] == '.' ? 1U : 0U;
    }
  }
  std::printf("%u programs; vmap rejects %u:\n", count, refusals);
  for (const auto& [op, times] : refused) {
    std::printf("  %s %u\n", op.c_str(), times);
  }
  EXPECT_LE(refusals, target.flavor == Flavor::pure ? 0 : count / 4);
  if (target.flavor == Flavor::pure && count >= 1000) {
    for (const std::string& op : RandomCalls::names()) {
      EXPECT_GE(done[op], count / 50) << op;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Each, Batches, testing::ValuesIn(batch_targets),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace byre::test
