// SPDX-License-Identifier: BSL-1.0
// Every view times every operation that writes, on bases of several kinds: a little program that
// reads the base, the view and another view after it wrote through the view, and after one more
// write. With and without the pass it does the same, or refuses the same. Each in one target, by
// turns; in all of them with BYRE_FUNCTIONALIZATION_TARGETS=all in the environment.

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <set>
#include <span>

#include "every_view.hpp"
#include "targets.hpp"
#include "user_operators.hpp"

namespace byre::test {
namespace {

enum class Form { whole, transposed, sliced, expanded, made_within };

struct Base {
  Dims sizes;
  DType dtype;
  Form form;
};

const std::vector<Base>& bases() {
  static const std::vector<Base> all = [] {
    std::vector<Base> some{{{}, DType::f32, Form::whole},
                           {{0, 2}, DType::f32, Form::whole},
                           {{2, 2}, DType::boolean, Form::whole},
                           {{2, 1, 2}, DType::f32, Form::expanded}};
    for (const Dims& sizes : {Dims{2, 3, 4}, Dims{4, 4}, Dims{1, 4}, Dims{6}}) {
      some.push_back({sizes, DType::f32, Form::whole});
      if (sizes.size() < 2 || sizes.front() == 1) {
        continue;
      }
      some.push_back({sizes, DType::f32, Form::transposed});
      some.push_back({sizes, DType::f32, Form::made_within});
      some.push_back({sizes, DType::i16, Form::sliced});
      some.push_back({sizes, DType::complex64, Form::whole});
    }
    return some;
  }();
  return all;
}

/// The base, as the_base, from a memory.
std::vector<Step> steps_of(const Base& base) {
  constexpr Ref memory{0, 0};
  const std::int64_t numel = byre::detail::element_count(base.sizes, "test");
  const std::int64_t stride = base.form == Form::sliced ? 2 : 1;
  std::vector<Step> steps{{memory.step, "arange", {Scalar(numel * stride), base.dtype}}};
  Dims twice = base.sizes;
  switch (base.form) {
    case Form::whole:
    case Form::made_within:
      steps.push_back({the_base.step, "view", {memory, base.sizes}});
      break;
    case Form::transposed:
      steps.push_back({90, "view", {memory, base.sizes}});
      steps.push_back({the_base.step, "transpose", {Ref{90, 0}, Scalar(0), Scalar(-1)}});
      break;
    case Form::sliced:
      twice.back() *= 2;
      steps.push_back({90, "view", {memory, twice}});
      steps.push_back(
          {the_base.step, "slice", {Ref{90, 0}, Scalar(-1), Scalar(1), NoValue(), Scalar(2)}});
      break;
    case Form::expanded:
      twice[1] = 3;
      steps.push_back({90, "view", {memory, base.sizes}});
      steps.push_back({the_base.step, "expand", {Ref{90, 0}, twice}});
      break;
  }
  return steps;
}

constexpr int write_number = 6;

Program program_of(const Base& base, const Sample& view, int part, const Sample& write) {
  Program program;
  const Ref seen{the_view.step, part};
  const auto with_part = [&](std::vector<StepArgument> arguments) {
    for (StepArgument& argument : arguments) {
      if (Ref* const ref = std::get_if<Ref>(&argument); ref != nullptr && *ref == the_view) {
        *ref = seen;
      }
    }
    return arguments;
  };
  if (base.form == Form::made_within) {
    program.body = steps_of(base);
  } else {
    program.setup = steps_of(base);
    program.inputs = {the_base};
  }
  program.body.insert(program.body.end(),
                      {{the_view.step, view.op, view.arguments},
                       {other_view.step, "slice", {the_base, Scalar(0), Scalar(0), Scalar(1)}},
                       {operand.step, "add.scalar", {seen, Scalar(true)}},
                       {condition.step, "ge.scalar", {seen, Scalar(3)}},
                       {write_number, write.op, with_part(write.arguments)},
                       {7, "clone", {the_base}},
                       {8, "clone", {seen}},
                       {9, "clone", {other_view}},
                       {10, "fill_", {other_view, Scalar(1)}},
                       {11, "mul_.scalar", {seen, Scalar(2)}},
                       {12, "zero_", {other_view}},
                       {13, "clone", {seen}}});
  for (const Ref ref : {the_base, seen, other_view, operand, Ref{write_number, 1}, Ref{7, 0},
                        Ref{8, 0}, Ref{9, 0}, Ref{13, 0}}) {
    program.outputs.push_back(ref);
  }
  return program;
}

char happened_to(int number, const Program& program, const Outcome& outcome) {
  for (std::size_t index = 0; index < program.body.size(); ++index) {
    if (program.body[index].number == number) {
      return outcome.trace.happened[index];
    }
  }
  return static_cast<char>(Happened::skipped);
}

/// By turns: over all bases, each view and write meet in all targets.
std::span<const Target> targets_at(std::size_t turn) {
  static const char* const given = std::getenv("BYRE_FUNCTIONALIZATION_TARGETS");
  const std::span<const Target> all = all_targets();
  return given != nullptr && std::string(given) == "all" ? all : all.subspan(turn % all.size(), 1);
}

TEST(EveryView, and_every_write_there_is_has_a_sample) {
  define_user_operators();
  std::set<std::string> sampled;
  for (const std::vector<Sample>* samples : {&every_view(), &every_write()}) {
    for (const Sample& sample : *samples) {
      sampled.insert(sample.op);
    }
  }
  for (const functional::Operator* const op : functional::operators()) {
    if (op->schema().effect() != Effect::none) {
      EXPECT_TRUE(sampled.contains(op->name())) << op->name();
    }
  }
}

TEST(EveryView, written_through_by_every_operation_does_what_it_does_in_memory) {
  define_user_operators();
  std::size_t programs = 0;
  std::size_t of_bytes_of_bools = 0;
  std::set<std::string> written_views;
  std::set<std::string> writes;
  ASSERT_GE(bases().size(), all_targets().size());
  for (const Base& base : bases()) {
    for (const Sample& view : every_view()) {
      auto turn = static_cast<std::size_t>(&base - bases().data() + (&view - every_view().data()));
      for (const Sample& write : every_write()) {
        ++turn;
        if (base.dtype == DType::boolean && view.op == "view.dtype") {
          ++of_bytes_of_bools;  // not every byte is a bool: what is written there is on its own
          break;
        }
        for (const int part : {0, 1}) {
          const Program program = program_of(base, view, part, write);
          const Outcome expected = run_reference(program);
          if (part != 0 && happened_to(8, program, expected) == '-') {
            break;  // there is one part
          }
          if (happened_to(write_number, program, expected) == '.') {
            written_views.insert(view.op);
            writes.insert(write.op);
          }
          for (const Target& target : targets_at(turn)) {
            const std::string text = difference(expected, target.run(program));
            ASSERT_EQ(text, "") << "on " << target.name << "\n" << to_string(program);
          }
          ++programs;
        }
      }
    }
  }
  std::printf("%zu programs, each in %zu targets; %zu views of bools as bytes were left out\n",
              programs, targets_at(0).size(), of_bytes_of_bools);
  EXPECT_LE(of_bytes_of_bools, 7U);
  for (const Sample& view : every_view()) {
    EXPECT_TRUE(written_views.contains(view.op)) << view.op << " was never written through";
  }
  for (const Sample& write : every_write()) {
    EXPECT_TRUE(writes.contains(write.op)) << write.op << " was refused everywhere";
  }
}

}  // namespace
}  // namespace byre::test
