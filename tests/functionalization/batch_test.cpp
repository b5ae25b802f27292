// SPDX-License-Identifier: BSL-1.0
// Random programs under vmap: one run over a batch does to outputs and inputs what a run for each of it does. What vmap
// does not do is counted.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>

#include "batch.hpp"
#include "support/functional/opaque_backend.hpp"
#include "support/random.hpp"
#include "tensor_programs/random_calls.hpp"

namespace byre::test {
namespace {

struct BatchOutcome {
  /// How outputs and inputs differ from those of the runs by themselves.
  std::string difference{};
  /// The operator that vmap refuses, or "vmap" for the run as a whole.
  std::string refused_by{};
  /// To each step, by itself.
  std::string happened{};
};

/// What vmap says it does not do, among that inputs of a batch share memory where those of one member, which are given
/// alone, do not. All else that it throws is an error of its own.
bool is_of_vmap(const std::string& what, bool inputs_share_memory) {
  static constexpr std::array refusals = {
      "vmap: the function made ",
      "vmap: the function wrote to an input whose memory another input sees",
      "vmap: the function wrote to memory that a batch of it",
      ": what is written is another for each of a batch",
      "functionalize: the function wrote to a tensor",
  };
  return std::ranges::any_of(
             refusals, [&](const char* refusal) { return what.find(refusal) != what.npos; }) ||
         (inputs_share_memory &&
          what.find("both of which are written, have elements in common") != what.npos);
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
  const auto step = static_cast<std::size_t>(alone - of_alone.begin());
  const std::string& op = program.body[step].op;
  if (*alone == static_cast<char>(Happened::done) &&
      is_of_vmap(found.said[step], batch.inputs_share_memory())) {
    return {"", op};
  }
  return {op + ": it does " + to_string(found) + "and not " + to_string(expected), ""};
}

/// Each input has other elements for each member, and its batch at another axis; some have none, and some are views of
/// the first one's memory. Captured tensors have no batch. Runs by themselves have inputs that are apart: vmap refuses
/// to write inputs that share memory.
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
    return is_of_vmap(what, false) ? BatchOutcome{"", what.substr(0, what.find_first_of(",;["))}
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

TEST_P(Batches, of_random_programs_are_those_of_each_member) {
  const BatchTarget& target = GetParam();
  const std::uint64_t count = program_count() / (target.flavor == Flavor::pure ? 10 : 4);
  const std::uint64_t first = seed();
  std::map<std::string, std::uint64_t> refused;
  std::map<std::string, std::uint64_t> done;
  std::uint64_t refusals = 0;
  for (std::uint64_t number = first; number < first + count; ++number) {
    const Program program = generate(number, target.flavor);
    const BatchOutcome outcome = run_batch(program, target);
    if (!outcome.difference.empty()) {
      const Program smallest = shrunk(program, [&](const Program& smaller) {
        return !run_batch(smaller, target).difference.empty();
      });
      FAIL() << "BYRE_TEST_SEED=" << number << ": " << run_batch(smallest, target).difference
             << "\n"
             << to_string(smallest);
    }
    if (!outcome.refused_by.empty()) {
      ++refused[outcome.refused_by];
      ++refusals;
    }
    for (std::size_t step = 0; step < outcome.happened.size(); ++step) {
      done[program.body[step].op] += outcome.happened[step] == '.' ? 1U : 0U;
    }
  }
  std::printf("%llu programs, %llu of which vmap refuses:\n",
              static_cast<unsigned long long>(count), static_cast<unsigned long long>(refusals));
  for (const auto& [op, times] : refused) {
    std::printf("  %s %llu\n", op.c_str(), static_cast<unsigned long long>(times));
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
