// SPDX-License-Identifier: BSL-1.0
// Cases of graphs, recordings, and texts of operators, arguments and keys.
#include <byre/functional.hpp>
#include <byre/functional/dispatch/scanner.hpp>
#include <byre/observe/recording.hpp>

#include "cases.hpp"

namespace byre::test {
namespace graph_table {

using namespace functional;
using functional::call;
using functional::call_for_one;

AnyTensor deep() {
  return from_cpu(deep_tensor());
}

/// A case: `Function` uses a captured graph.
template <class Function>
Case graph_step_case(const char* name, Function) {
  static_assert(std::is_empty_v<Function>);
  return {name, [](Attempt& attempt) {
            const AnyTensor kept = deep();
            const Program program = [&kept](const Tensors& in) {
              const AnyTensor unused = call_for_one("mul", {in[0], in[0]});
              call("add_", {in[0], call_for_one("add", {kept, kept})});
              return Tensors{call_for_one("cat", {Tensors{in[0], unused}, 1}),
                             call_for_one("add", {kept, kept})};
            };
            CapturedProgram captured = capture(program, {deep()});
            std::string result;
            attempt([&] { result = Function()(captured.graph); },
                    [&] { return to_string(captured.graph) + result; });
          }};
}

/// A case: `Function` uses a recording with one input.
template <class Function>
Case recording_case(const char* name, Function) {
  static_assert(std::is_empty_v<Function>);
  return {name, [](Attempt& attempt) {
            const Recording recording;
            const AnyTensor input = recording.input(deep_sizes, DType::f32, "x");
            AnyTensor result;
            attempt([&] { result = Function()(recording, input); },
                    [&] {
                      return std::to_string(recording.node_count()) +
                             (result ? to_string(recording.capture({result})) : "");
                    });
          }};
}

std::string eliminated(Graph& graph, std::size_t (*eliminate)(Graph&)) {
  return std::to_string(eliminate(graph));
}

constexpr const char* long_schema =
    "an_operator_of_a_long_name.overload(Tensor a, Scalar? b=1.5, int[] sizes=[1, 2, 3, 4, 5, 6], "
    "DType dtype=f32) -> (Tensor, Tensor)";

const Case cases[] = {
    graph_step_case("functional::to_string", [](Graph& graph) { return to_string(graph); }),
    graph_step_case("functional::execute",
                    [](Graph& graph) {
                      static const Tensors inputs{deep()};
                      return to_string(to_cpu(execute(graph, inputs).at(0)));
                    }),
    graph_step_case("functional::eliminate_dead_code",
                    [](Graph& graph) { return eliminated(graph, eliminate_dead_code); }),
    graph_step_case(
        "functional::eliminate_common_subexpressions",
        [](Graph& graph) { return eliminated(graph, eliminate_common_subexpressions); }),
    recording_case(
        "functional::Recording::Recording",
        [](const Recording&, const AnyTensor&) { return (void)Recording(), AnyTensor(); }),
    recording_case("functional::Recording::input",
                   [](const Recording& recording, const AnyTensor&) {
                     return recording.input(deep_sizes, DType::f32);
                   }),
    recording_case("functional::Recording::constant",
                   [](const Recording& recording, const AnyTensor&) {
                     static const Tensor constant = deep_tensor();
                     return recording.constant(constant);
                   }),
    recording_case("functional::Recording::record",
                   [](const Recording&, const AnyTensor& input) {
                     return call_for_one("add", {input, deep()});
                   }),
    recording_case("functional::Recording::capture",
                   [](const Recording& recording, const AnyTensor& input) {
                     static const Tensors none;
                     return (void)recording.capture(none), input;
                   }),
    recording_case(
        "functional::Recording::of",
        [](const Recording&, const AnyTensor& input) { return (void)Recording::of(input), input; }),
    recording_case("functional::Recording::current",
                   [](const Recording& recording, const AnyTensor& input) {
                     const RecordingScope scope(recording);
                     return (void)Recording::current(), input;
                   }),

    text_case(
        "functional::to_string", [] { return Constant(all_axes); },
        [](const Constant& constant) { return to_string(constant); }),
    text_case(
        "functional::to_string", [] { return Scalar(std::complex<float>(1e30F, 2e-30F)); },
        [](const Scalar& number) { return functional::to_string(number); }),
    text_case(
        "functional::describe", [] { return Argument(deep()); },
        [](const Argument& argument) { return describe(argument); }),
    text_case(
        "functional::describe", [] { return deep(); },
        [](const AnyTensor& tensor) { return describe(tensor); }),
    text_case(
        "functional::to_string",
        [] { return KeySet(Key::cpu) | Key::batched | Key::functionalize; },
        [](KeySet keys) { return to_string(keys); }),
    text_case(
        "functional::to_string", [] { return parse_schema(long_schema); },
        [](const Schema& schema) { return to_string(schema); }),
    text_case(
        "functional::Schema::full_name", [] { return parse_schema(long_schema); },
        [](const Schema& schema) { return schema.full_name(); }),
    call_case("functional::parse_schema", [] { return parse_schema(long_schema).overload; }),
    call_case("functional::Operator::Operator",
              [] { return std::to_string(Operator(parse_schema(long_schema)).name().size()); }),
    call_case("functional::Scanner::constant",
              [] { return to_string(Scanner("[1, 2, 3, 4, 5, 6]", "test").constant()); }),
    call_case("functional::Scanner::constant",
              [] { return to_string(Scanner("1234567890.125", "test").constant()); }),
};

}  // namespace graph_table

std::span<const Case> graph_cases() {
  return graph_table::cases;
}

}  // namespace byre::test
