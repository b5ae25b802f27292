// SPDX-License-Identifier: BSL-1.0
#include <byre/functional/dispatch/scanner.hpp>
#include <byre/functional/dispatch/schema.hpp>

#include <gtest/gtest.h>
#include <string>

#include "support/float_environments.hpp"

namespace {

using namespace byre;
using namespace byre::functional;

TEST(Schemas, a_parsed_schema_prints_as_the_parsed_text) {
  for (const std::string text : {
           "add(Tensor a, Tensor b) -> Tensor",
           "add_.scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)",
           "split(Tensor(a) self, int size, Axis axis=0) -> Tensor(a)[]",
           "flip(Tensor a, Axis[] axes=[0, -1]) -> Tensor",
           "add.out(Tensor a, Tensor b, *, Tensor(a!) out) -> Tensor(a!)",
           "swap_(Tensor(a!) a, Tensor(b!) b) -> ()",
           "norm(Tensor[] all, int? axis=none, bool keep=false, Scalar by=1.5) -> (Tensor, Tensor)",
           "f(int[] sizes=[1, 2], DType dtype=bf16) -> Tensor[]",
           "f(Tensor a, *, int b, Scalar c=inf) -> Tensor",
       }) {
    EXPECT_EQ(to_string(parse_schema(text)), text);
  }
  EXPECT_EQ(to_string(parse_schema("f(Tensor a,  # the first\n int b) -> Tensor")),
            "f(Tensor a, int b) -> Tensor");
}

TEST(Schemas, constants_round_trip_in_any_float_environment) {
  for (const auto& environment : byre::test::float_environments) {
    const std::string text = "f(Scalar a=1e-310, Scalar b=0.1, Scalar c=complex(1e-40, 0.1)) -> ()";
    const auto copy = [&text] { return to_string(parse_schema(text)); };
    EXPECT_EQ(byre::test::in_environment(environment, copy), text) << environment.name;
  }
}

TEST(Schemas, the_effect_follows_from_the_alias_sets) {
  EXPECT_EQ(parse_schema("f(Tensor a) -> Tensor").effect(), Effect::none);
  EXPECT_EQ(parse_schema("f(Tensor(a) a) -> Tensor(a)").effect(), Effect::view);
  EXPECT_EQ(parse_schema("f(Tensor(a!) a) -> Tensor(a!)").effect(), Effect::write);
  EXPECT_EQ(parse_schema("f(Tensor a, *, Tensor(a!) out) -> ()").effect(), Effect::write);
}

/// Lists `item(number)` for each number below `count`, with commas.
template <class Item>
std::string listed(std::size_t count, const Item& item) {
  std::string text = item(0);
  for (std::size_t number = 1; number < count; ++number) {
    text += ", " + item(number);
  }
  return text;
}

/// If parsing took quadratic time, these schemas would take minutes.
TEST(Schemas, a_million_items_are_parsed_in_linear_time) {
  const auto text_of = [](std::size_t number) { return std::to_string(number); };
  const std::string numbers = "[" + listed(1'000'000, text_of) + "]";
  const Schema long_default = parse_schema("f(int[] a=" + numbers + ") -> Tensor");
  EXPECT_EQ(to_string(*long_default.parameters.front().default_value), numbers);

  const auto parameter = [](std::size_t number) { return "Tensor a" + std::to_string(number); };
  const std::string text = "f(" + listed(300'000, parameter) + ") -> (" +
                           listed(300'000, [](std::size_t) { return std::string("Tensor"); }) + ")";
  EXPECT_EQ(to_string(parse_schema(text)), text);
}

struct WrongSchema {
  const char* schema;
  const char* says;
  std::size_t column;
};

class WrongSchemas : public testing::TestWithParam<WrongSchema> {};

TEST_P(WrongSchemas, errors_report_the_column_of_the_mistake) {
  const WrongSchema& wrong = GetParam();
  try {
    parse_schema(wrong.schema);
    FAIL() << wrong.schema << " was accepted";
  } catch (const SyntaxError& error) {
    EXPECT_NE(std::string(error.what()).find(wrong.says), std::string::npos) << error.what();
    EXPECT_EQ(error.column(), wrong.column) << error.what();
    EXPECT_EQ(error.line(), 1U);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Each, WrongSchemas,
    testing::Values(
        WrongSchema{"", "expected the operator's name, found the end", 1},
        WrongSchema{"f", "expected '('", 2},
        WrongSchema{"f(Tenser a) -> Tensor", "expected a type", 3},
        WrongSchema{"f(intx) -> Tensor", "expected a type", 3},
        WrongSchema{"f(int a=99999999999999999999) -> Tensor", "out of the range of i64", 9},
        WrongSchema{"f(Scalar a=1e999) -> Tensor", "out of the range of f64", 12},
        WrongSchema{"f(Tensor) -> Tensor", "expected the parameter's name, found ')'", 9},
        WrongSchema{"f(Tensor a", "expected ')', found the end", 11},
        WrongSchema{"f(Tensor a) Tensor", "expected '->', found 'Tensor'", 13},
        WrongSchema{"f(Tensor a) -> int", "results must be tensors", 16},
        WrongSchema{"f(Tensor a, int a) -> Tensor", "the parameter 'a' is declared already", 17},
        WrongSchema{"f(int a=1, int b) -> Tensor", "without a default", 12},
        WrongSchema{"f(int a=1.5) -> Tensor", "the default must be int", 9},
        WrongSchema{"f(Axis a=1.5) -> Tensor", "the default must be Axis", 10},
        WrongSchema{"f(Axis[] a=1) -> Tensor", "the default must be Axis[]", 12},
        WrongSchema{"f(Tensor(ab) a) -> Tensor", "one letter", 10},
        WrongSchema{"f(Tensor(a) a, Tensor(a) b) -> Tensor(a)",
                    "two parameters share one alias set", 16},
        WrongSchema{"f(Tensor a) -> Tensor(a)", "a set that no parameter names", 16},
        WrongSchema{"f(Tensor(a!) a) -> Tensor(a)", "must agree on '!'", 20},
        WrongSchema{"f(Tensor(a!)[] a) -> ()", "cannot be written", 3},
        WrongSchema{"f(Tensor? a) -> Tensor", "cannot be optional", 3},
        WrongSchema{"f(Tensor a) -> (Tensor, Tensor[])", "the only result", 25},
        WrongSchema{"f(Tensor a) -> Tensor b", "expected the end, found 'b'", 23}));

TEST(Schemas, contradicting_aliases_are_rejected) {
  for (const char* const schema :
       {"f(int i, Tensor(a) a) -> Tensor(a)", "f(Tensor(a) a) -> (Tensor(a), Tensor)",
        "f(Tensor(a!) a, Tensor(b) b) -> (Tensor(a!), Tensor(b))", "f(Tensor(a!) a) -> Tensor[]"}) {
    EXPECT_THROW(parse_schema(schema), SchemaError) << schema;
  }
}

}  // namespace
