// SPDX-License-Identifier: BSL-1.0
// Functional variants: pure operators that compute the results of operators that write. They are
// registered or generated.
#include <byre/functional/dispatch/detail/functional_variant.hpp>

#include "tensors.hpp"

namespace byre::test {
namespace {

TEST(FunctionalVariants, a_registered_variant_replaces_the_generated_one) {
  const Operator& writes = define("test_later_(Tensor(a!) self) -> Tensor(a!)")
                               .cpu([](Tensor& self) { mul_(self, Scalar(2)); })
                               .op();
  const Operator& generated = functional::detail::functional_variant_of(writes);
  EXPECT_EQ(generated.name(), "test_later__functional");
  EXPECT_EQ(text_of(call_for_one(generated, {ascending(3)})), "[0. 2. 4.]");
  const Definition later = define("test_later(Tensor a) -> Tensor");
  later.meta(meta_as_first);
  EXPECT_EQ(&functional::detail::functional_variant_of(writes), &generated)
      << "the registered variant has no kernel yet";
  later.cpu([](const Tensor& a) { return mul(a, Scalar(3)); });
  EXPECT_EQ(&functional::detail::functional_variant_of(writes), &later.op());
  const AnyTensor x = to_functional(ascending(3));
  call(writes, {x});
  EXPECT_EQ(text_of_value(x), "[0. 3. 6.]");
}

TEST(FunctionalVariants, generated_variants_return_new_and_written_values) {
  const Operator& doubles = define("test_double_(Tensor(a!) self) -> (Tensor(a!), Tensor)")
                                .cpu([](Tensor& self) {
                                  mul_(self, Scalar(2));
                                  return sum(self);
                                })
                                .op();
  const AnyTensor x = ascending(3);
  EXPECT_EQ(texts_of(call(functional::detail::functional_variant_of(doubles), {x})),
            "6.\n[0. 2. 4.]\n");
  EXPECT_EQ(text_of(x), "[0. 1. 2.]");
}

TEST(FunctionalVariants, variants_are_found_in_any_order_of_definition) {
  const auto define_pure = [](const char* schema) -> const Operator& {
    return define(schema).composite([](const Call&) { return Tensors(); }).op();
  };
  const Operator& first = define_pure("test_first.by(Tensor a, Scalar by) -> Tensor");
  define_pure("test_takes_more(Tensor a, Scalar b) -> Tensor");
  define_pure("test_takes_int(Tensor a, int b) -> Tensor");
  const std::pair<const char*, const Operator*> variants[] = {
      {"test_first_.by(Tensor(a!) self, Scalar by) -> Tensor(a!)", &first},
      {"test_first.by_out(Tensor a, Scalar by, *, Tensor(a!) out) -> Tensor(a!)", &first},
      {"test_first_(Tensor(a!) self) -> Tensor(a!)", nullptr},  // the overload differs
      {"test_takes_more_(Tensor(a!) self) -> Tensor(a!)", nullptr},
      {"test_takes_more_.other(Tensor(a!) self, int b) -> Tensor(a!)", nullptr},
      {"test_takes_int_(Tensor(a!) self, Scalar b) -> Tensor(a!)", nullptr},
  };
  for (const auto& [schema, variant] : variants) {
    EXPECT_EQ(define(schema).op().functional_variant(), variant) << schema;
  }
  const Operator& before = define("test_takes_other_(Tensor(a!) self, int b) -> Tensor(a!)").op();
  define_pure("test_takes_other(Tensor a) -> Tensor");
  EXPECT_EQ(before.functional_variant(), nullptr);
}

TEST(FunctionalVariants, a_pure_operator_is_a_variant_only_if_it_has_a_kernel) {
  const Definition pure = define("test_bare(Tensor a) -> Tensor");
  const Operator& writes = define("test_bare_(Tensor(a!) self) -> Tensor(a!)")
                               .cpu([](Tensor& self) { mul_(self, Scalar(2)); })
                               .op();
  EXPECT_EQ(writes.functional_variant(), nullptr);
  const AnyTensor x = to_functional(ascending(3));
  call(writes, {x});
  EXPECT_EQ(text_of_value(x), "[0. 2. 4.]") << "the generated variant computes it";
  pure.composite([](const Call& call) { return functional::call("neg", {call.arguments[0]}); });
  EXPECT_EQ(writes.functional_variant(), &pure.op());
  EXPECT_EQ(
      define("test_bare.out(Tensor a, *, Tensor(a!) out) -> Tensor(a!)").op().functional_variant(),
      &pure.op())
      << "a composite kernel suffices";
}

TEST(FunctionalVariants, a_view_is_a_view_variant_only_if_it_has_a_view_rule) {
  const Operator& in_place = define("test_halve_(Tensor(a!) self) -> Tensor(a!)").op();
  const Definition view = define("test_halve(Tensor(a) self) -> Tensor(a)");
  EXPECT_EQ(in_place.view_variant(), nullptr);
  view.view([](const ViewGeometry& self, std::span<const Argument>) {
    return std::vector{self.with(views::slice(self.layout, 0, 0, self.layout.sizes[0] / 2, 1))};
  });
  EXPECT_EQ(in_place.view_variant(), &view.op());
  const AnyTensor x = ascending(4);
  call(in_place, {x});
  EXPECT_EQ(text_of(x), "[0. 1.]");
}

}  // namespace
}  // namespace byre::test
