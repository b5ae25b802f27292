// SPDX-License-Identifier: BSL-1.0
// Cases of functions that transform programs over tensors. A run writes all inputs of a program; a
// failed run writes none.
#include <byre/functional.hpp>

#include "cases.hpp"
#include "support/functional/opaque_backend.hpp"

namespace byre::test {
namespace program_table {

using namespace functional;
using functional::call;
using functional::call_for_one;

AnyTensor deep() {
  return from_cpu(deep_tensor());
}
AnyTensor counted(const Dims& sizes) {
  const AnyTensor all =
      call_for_one("arange", {contiguous_layout(sizes, "test").numel(), DType::f32});
  return call_for_one("reshape", {all, sizes});
}
AnyTensor counted_opaque(const Dims& sizes) {
  return to_opaque(to_cpu(counted(sizes)));
}

/// Writes its input. Returns a view of the input, a new value and a view of that value.
Tensors write_and_return(const Tensors& in) {
  call("fill_", {call_for_one("select", {in[0], 1, 1}), 7});
  call("add_", {in[0], in[0]});
  const AnyTensor sum = call_for_one("add", {in[0], in[0]});
  return {call_for_one("transpose", {in[0], 1, 3}), call_for_one("select", {sum, 1, 0}), sum};
}

Tensors square(const Tensors& in) {
  return call("mul", {in[0], in[0]});
}

/// Writes parts of both inputs. Writes the first input again after reading it.
Tensors write_both(const Tensors& in) {
  call("add_.scalar", {call_for_one("select", {in[0], 0, 1}), 10});
  call("mul_", {in[1], call_for_one("sum", {in[0]})});
  call("fill_", {call_for_one("select", {in[0], -1, 0}), 7});
  return {};
}
Tensors turn(const Tensors& in) {
  for (const AnyTensor& x : in) {
    const AnyTensor copy = call_for_one("clone", {x});
    call("copy_", {x, call_for_one("permute", {copy, {6, 4, 5, 3, 1, 2, 0, 7, 8}})});
  }
  return {};
}
Tensors change(const Tensors& in) {
  call("transpose_", {in[0], 0, 1});
  call("fill_", {in[0], 5});
  call("resize_", {in[1], {7}});
  call("set_", {in[2], call_for_one("select", {in[0], 0, 1})});
  return {in[0]};
}
Tensors add_into(const Tensors& in) {
  return call("add.out", {in[0], in[1], in[2]});
}

Tensors two() {
  return {counted({2, 3}), counted({2})};
}
Tensors two_opaque() {
  return {counted_opaque({2, 3}), counted_opaque({2})};
}
const BatchAxes axes_1_and_0{1, 0};
Tensors batches() {
  return {counted({2, 3, 3}), counted({3, 2})};
}
Tensors opaque_batches() {
  return {counted_opaque({2, 3, 3}), counted_opaque({3, 2})};
}
Tensors parts_under_the_pass() {
  Tensors parts;
  for (const AnyTensor& whole : {counted({2, 2, 3, 3}), counted({2, 3, 2})}) {
    parts.push_back(call_for_one("select", {to_functional(whole), 0, 1}));
  }
  return parts;
}
Tensors of_many_dimensions() {
  const Dims sizes{2, 1, 1, 1, 1, 1, 2, 1, 2};
  return {counted(sizes), counted(sizes)};
}
Tensors three() {
  return {counted({2, 3}), counted({2}), counted({4})};
}
Tensors terms_and_no_elements() {
  return {counted({2, 3}), counted({3}), counted({0})};
}
Tensors one_deep() {
  return {deep()};
}

std::string text_of(const Tensors& tensors) {
  std::string text;
  for (const AnyTensor& tensor : tensors) {
    const AnyTensor value = from_functional(tensor);
    const bool is_opaque = value.as<OpaqueTensor>() != nullptr;
    text += to_string(is_opaque ? from_opaque(value) : to_cpu(value)) + "\n";
  }
  return text;
}

/// A case: a run of the program that `Make` returns, on the tensors of `inputs_of`. A failed run
/// must write no input. Every run must restore the dispatch keys of the thread.
template <auto inputs_of = one_deep, class Make>
Case run_case(const char* name, Make) {
  static_assert(std::is_empty_v<Make>);
  return {name, [](Attempt& attempt) {
            const auto program = Make()();
            const Tensors inputs = inputs_of();
            Tensors outputs;
            attempt([&] { outputs = program(inputs); },
                    [&] {
                      const ThreadKeys keys = thread_keys();
                      return text_of(inputs) + text_of(outputs) +
                             to_string(keys.included | keys.excluded);
                    });
          }};
}

Case with_undo(Case given) {
  given.allocates_to_undo = true;
  return given;
}

/// A case: creates a program, then runs it.
template <class Make>
Case make_case(const char* name, Make) {
  static_assert(std::is_empty_v<Make>);
  return {name, [](Attempt& attempt) {
            Program program;
            attempt([&] { program = Make()(); },
                    [&] { return program ? text_of(program({deep()})) : "no program"; });
          }};
}

void capture_again(Attempt& attempt) {
  const Tensors examples{deep()};
  std::string text;
  attempt([&] { text = to_string(capture(write_and_return, examples).graph); },
          [&] { return text; });
}

void find_inputs(Attempt& attempt) {
  const CapturedProgram program = capture(write_and_return, {deep()});
  attempt([&] { (void)program.program_inputs(); });
}

void write_functional(Attempt& attempt) {
  const AnyTensor x = to_functional(deep());
  call("fill_", {call_for_one("select", {x, 1, 1}), 7});
  call("fill_", {call_for_one("select", {x, 3, 1}), 8});  // two updates, each applied once
  AnyTensor value;
  attempt([&] { value = from_functional(x); },
          [&] { return value ? to_string(to_cpu(value)) : "none"; });
}

void enter_pass(Attempt& attempt) {
  const AnyTensor x = deep();
  attempt([&] { (void)share_memory(to_functional(x), x); });
}

Program lowered() {
  return functionalize_on({opaque_backend(), to_opaque, from_opaque}, write_and_return);
}

const Case cases[] = {
    make_case("functional::functionalize", [] { return functionalize(write_and_return); }),
    make_case("functional::vmap", [] { return vmap(square); }),
    run_case("functional::functionalize", [] { return functionalize(write_and_return); }),
    run_case("functional::functionalize",
             [] { return functionalize(functionalize(write_and_return)); }),
    run_case("functional::functionalize_on", [] { return lowered(); }),
    run_case("functional::vmap", [] { return vmap(square); }),
    run_case<two>("functional::functionalize", [] { return functionalize(write_both); }),
    run_case<two_opaque>("functional::functionalize", [] { return functionalize(write_both); }),
    run_case<of_many_dimensions>("functional::functionalize", [] { return functionalize(turn); }),
    run_case<three>("functional::functionalize", [] { return functionalize(change); }),
    run_case<batches>("functional::functionalize",
                      [] { return functionalize(vmap(write_both, axes_1_and_0)); }),
    run_case<batches>("functional::vmap",
                      [] { return vmap(functionalize(write_both), axes_1_and_0); }),
    run_case<opaque_batches>("functional::vmap",
                             [] { return vmap(functionalize(write_both), axes_1_and_0); }),
    retaining_memory(run_case<parts_under_the_pass>("functional::vmap",
                                                    [] { return vmap(write_both, axes_1_and_0); })),
    with_undo(
        run_case<terms_and_no_elements>("functional::call", []() -> Program { return add_into; })),
    run_case<two>("functional::CapturedProgram::operator()",
                  [] { return capture(write_both, two()); }),
    {"functional::capture", capture_again},
    run_case("functional::CapturedProgram::run",
             []() -> Program {
               return [captured = capture(write_and_return, {deep()})](const Tensors& in) {
                 return captured.run(
                     in, [&](const Tensors& bases) { return execute(captured.graph, bases); });
               };
             }),
    {"functional::CapturedProgram::program_inputs", find_inputs},
    {"functional::from_functional", write_functional},
    {"functional::to_functional", enter_pass},
    {"functional::share_memory", enter_pass},
};

}  // namespace program_table

std::span<const Case> program_cases() {
  return program_table::cases;
}

}  // namespace byre::test
