// SPDX-License-Identifier: BSL-1.0
// Captured tensors are tensors that a program neither creates nor receives as inputs. If the
// program returns a view of a captured tensor, or sets an input to the captured tensor by set_,
// this view or input must alias the captured tensor, as it does without the pass.
#include <ostream>

#include "tensors.hpp"

namespace byre::test {
namespace {

Program keeping_views(const Program& f) {
  return functionalize(f, {.reapply_views = true});
}

/// The first transform is the reference: results under the pass must equal its results.
class CapturedTensors : public testing::TestWithParam<Transform> {
 protected:
  static Tensors run(const Program& f, const Tensors& inputs) {
    return GetParam().apply(f)(inputs);
  }
};

TEST_P(CapturedTensors, returned_views_of_a_captured_tensor_alias_that_tensor) {
  const AnyTensor captured = ascending({2, 3});
  const AnyTensor turned = call_for_one("transpose", {captured, 0, 1});
  const Tensors out = run(
      [&](const Tensors& in) {
        const AnyTensor row = element(captured, 1);
        return Tensors{row,
                       call_for_one("slice", {turned, 0, 1}),
                       call_for_one("as_strided", {row, {2}, {2}, 0}),
                       call_for_one("view.dtype", {row, DType::i32}),
                       captured,
                       captured,
                       call_for_one("add.scalar", {in[0], 1})};
      },
      {ascending({2})});
  EXPECT_EQ(texts_of({out[0], out[1], out[2], out[6]}),
            "[3. 4. 5.]\n[[1. 4.]\n [2. 5.]]\n[0. 2.]\n[1. 2.]\n");
  EXPECT_TRUE(out[4] == captured && out[5] == captured);
  for (std::size_t view = 0; view < 4; ++view) {
    EXPECT_TRUE(to_cpu(out[view]).aliases(to_cpu(captured)));
  }
  call("zero_", {captured});
  EXPECT_EQ(text_of(out[1]), "[[0. 0.]\n [0. 0.]]");
}

TEST_P(CapturedTensors, an_input_set_to_a_captured_tensor_aliases_that_tensor) {
  const AnyTensor captured = ascending({2, 3});
  const AnyTensor x = ascending({2});
  const AnyTensor y = ascending({2});
  const Tensors out = run(
      [&](const Tensors& in) {
        call("set_", {in[0], captured});
        call("set_", {in[1], call_for_one("select", {captured, 1, 0})});
        return Tensors{in[0], call_for_one("sum", {in[1]})};
      },
      {x, y});
  EXPECT_TRUE(out[0] == x && x != captured);
  EXPECT_EQ(text_of(out[1]), "3.");
  call("fill_", {y, 7});
  EXPECT_EQ(text_of(captured), "[[7. 1. 2.]\n [7. 4. 5.]]") << "y is a view of it";
  EXPECT_EQ(text_of(x), text_of(captured));
}

INSTANTIATE_TEST_SUITE_P(Each, CapturedTensors,
                         testing::Values(Transform{"plain", untransformed},
                                         Transform{"keeping_views", keeping_views},
                                         Transform{"without_views", without_views},
                                         Transform{"on_opaque", on_opaque},
                                         Transform{"graph", by_graph}),
                         name_of_transform);

TEST(OpaqueCaptures, a_program_can_return_a_captured_opaque_tensor_itself) {
  const AnyTensor captured = to_opaque(to_cpu(ascending({2})));
  const AnyTensor x = to_opaque(to_cpu(ascending({2})));
  EXPECT_EQ(functionalize([&](const Tensors&) { return Tensors{captured}; })({x})[0], captured);
}

TEST(OutVariants, errors_of_out_variants_name_the_called_operator) {
  const auto refusal = []<class Expected>(Expected*, const Program& program,
                                          const Tensors& inputs) {
    const std::string text = complaint_of<Expected>([&] { program(inputs); });
    EXPECT_TRUE(text.starts_with("add.out: ") || text.starts_with("add.out writes")) << text;
  };
  constexpr FunctionalizeError* of_pass = nullptr;
  constexpr DispatchError* of_dispatch = nullptr;
  const Program add = [](const Tensors& in) { return call("add.out", {in[0], in[0], in[1]}); };
  for (const AnyTensor& captured : {ascending({2}), call_for_one("zeros", {{0}})}) {
    const Program to_captured = [&](const Tensors& in) { return add({in[0], captured}); };
    refusal(of_pass, functionalize(to_captured), {ascending({2})});
  }
  const AnyTensor opaque = to_opaque(to_cpu(ascending({2})));
  refusal(of_dispatch, add, {opaque, opaque});
  const Tensors batch{ascending({2, 2}), ascending({2})};
  refusal(of_dispatch, vmap(add), batch);
  refusal(of_dispatch, vmap(add, {0, std::nullopt}), batch);
  refusal(of_dispatch, vmap(functionalize(add), {0, std::nullopt}), batch);
}

TEST(Copies, view_copies_of_strided_tensors_read_in_row_major_order) {
  const AnyTensor x = ascending({2, 3});
  const AnyTensor turned = call_for_one("permute_copy", {x, {1, 0}});
  EXPECT_EQ(text_of(call_for_one("as_strided", {turned, {2}, {1}})), "[0. 3.]");
  EXPECT_EQ(text_of(call_for_one("as_strided_copy", {element(x, 1), {2}, {1}, 0})), "[3. 4.]");
}

/// Takes `base` over and returns it with a 0 as element 1.
AnyTensor scattered(AnyTensor base) {
  AnyTensor none = call_for_one("zeros", {call_for_one("select", {base, 0, 1}).sizes()});
  Arguments arguments{Argument(), std::move(none), 0, 1};
  arguments[0] = std::move(base);  // an initializer list would copy it
  return call_for_one("select_scatter", std::move(arguments));
}

TEST(Scatters, a_scatter_writes_in_place_only_if_its_base_is_unshared) {
  const ExcludeKeys pass(Key::functionalize);  // as if the pass called the operators
  Tensor alone = to_cpu(ascending(3)).clone();
  const float* const place = alone.data<float>();
  EXPECT_EQ(to_cpu(scattered(from_cpu(std::move(alone)))).data<float>(), place);
  const AnyTensor held = ascending(3);
  const Tensor tensor = to_cpu(ascending(3)).clone();
  EXPECT_EQ(text_of(scattered(held)), "[0. 0. 2.]");
  EXPECT_EQ(text_of(scattered(from_cpu(tensor))), "[0. 0. 2.]");
  EXPECT_EQ(text_of(scattered(from_cpu(tensor.alias()))), "[0. 0. 2.]");
  EXPECT_EQ(text_of(held) + byre::to_string(tensor), "[0. 1. 2.][0. 1. 2.]");
  EXPECT_EQ(text_of(scattered(from_cpu(to_cpu(ascending(3)).clone().expand({2, 3})))),
            "[[0. 1. 2.]\n [0. 0. 0.]]");
}

}  // namespace
}  // namespace byre::test
