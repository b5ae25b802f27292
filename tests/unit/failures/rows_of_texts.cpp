// SPDX-License-Identifier: BSL-1.0
// What operators, arguments and keys are as text, and what is read from that.
#include <byre/functional.hpp>
#include <byre/functional/dispatch/scanner.hpp>

#include "rows.hpp"

namespace byre::test {
namespace texts_rows {

using namespace functional;

AnyTensor deep() {
  return from_cpu(deep_tensor());
}

constexpr const char* long_schema =
    "an_operator_of_a_long_name.overload(Tensor a, Scalar? b=1.5, int[] sizes=[1, 2, 3, 4, 5, 6], "
    "DType dtype=f32) -> (Tensor, Tensor)";

/// A value to be written as text. The text alone is compared.
template <class Held>
struct There {
  Held held;
};
template <class Held>
std::string described(const There<Held>&) {
  return "";
}
/// A row: `Print` writes the value that `Make` prepares as text.
template <class Make, class Print>
Row of_text(const char* name, Make, Print) {
  return of(
      name, [] { return There{Make()()}; }, [](auto& there) { return Print()(there.held); });
}

const Row rows[] = {
    of_text(
        "functional::to_string", [] { return Constant(all_axes); },
        [](const Constant& constant) { return to_string(constant); }),
    of_text(
        "functional::to_string", [] { return Scalar(std::complex<float>(1e30F, 2e-30F)); },
        [](const Scalar& number) { return functional::to_string(number); }),
    of_text(
        "functional::describe", [] { return Argument(deep()); },
        [](const Argument& argument) { return describe(argument); }),
    of_text(
        "functional::describe", [] { return deep(); },
        [](const AnyTensor& tensor) { return describe(tensor); }),
    of_text(
        "functional::to_string",
        [] { return KeySet(Key::cpu) | Key::batched | Key::functionalize; },
        [](KeySet keys) { return to_string(keys); }),
    of_text(
        "functional::to_string", [] { return parse_schema(long_schema); },
        [](const Schema& schema) { return to_string(schema); }),
    of_text(
        "functional::Schema::full_name", [] { return parse_schema(long_schema); },
        [](const Schema& schema) { return schema.full_name(); }),
    of_nothing("functional::parse_schema", [] { return parse_schema(long_schema).overload; }),
    of_nothing("functional::Operator::Operator",
               [] { return std::to_string(Operator(parse_schema(long_schema)).name().size()); }),
    of_nothing(
        "functional::Scanner::identifier",
        [] { return Scanner("an_identifier_of_many_letters", "test").identifier("a name"); }),
    of_nothing("functional::Scanner::constant",
               [] { return to_string(Scanner("[1, 2, 3, 4, 5, 6]", "test").constant()); }),
    of_nothing("functional::Scanner::constant",
               [] { return to_string(Scanner("1234567890.125", "test").constant()); }),
    of_nothing("functional::Scanner::integer",
               [] { return std::to_string(Scanner("1234567890", "test").integer("a size")); }),
    of_refusal<SyntaxError>("functional::Scanner::expect",
                            [] { Scanner("others", "test").expect("a rather long word"); }),
    of_refusal<SyntaxError>("functional::Scanner::expected",
                            [] { Scanner("others", "test").expected("a long word"); }),
    of_refusal<SyntaxError>("functional::Scanner::refuse",
                            [] { Scanner("others", "test").refuse("not this word", 2); }),
};

}  // namespace texts_rows

std::span<const Row> rows_of_texts() {
  return texts_rows::rows;
}

}  // namespace byre::test
