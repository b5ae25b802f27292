// SPDX-License-Identifier: BSL-1.0
// Tensors that a program neither makes nor is given: what it returns of them, and sets inputs to,
// is theirs, as without the pass.
#include <ostream>

#include "support/functional/opaque_backend.hpp"
#include "tensors.hpp"

namespace byre::test {
namespace {

Program keeping_views(const Program& f) {
  return functionalize(f, {.reapply_views = true});
}
Program on_opaque(const Program& f) {
  return functionalize_on({opaque_backend(), to_opaque, from_opaque}, f);
}

/// The first way is the reference: what holds without the pass holds with it.
class CapturedTensors : public testing::TestWithParam<Way> {
 protected:
  static Tensors run(const Program& f, const Tensors& inputs) {
    return GetParam().transform(f)(inputs);
  }
};

TEST_P(CapturedTensors, that_are_returned_are_themselves) {
  const AnyTensor captured = counted({2, 3});
  const Tensors out = run(
      [&](const Tensors& in) {
        return Tensors{captured, call_for_one("add.scalar", {in[0], 1}), captured};
      },
      {counted({2})});
  EXPECT_EQ(out[0], captured);
  EXPECT_EQ(out[2], captured);
  EXPECT_EQ(text_of(out[1]), "[1. 2.]");
}

TEST_P(CapturedTensors, have_views_that_alias_them_where_they_are_returned) {
  const AnyTensor captured = counted({2, 3});
  const AnyTensor turned = call_for_one("transpose", {captured, 0, 1});
  const Tensors out = run(
      [&](const Tensors&) {
        const AnyTensor row = element(captured, 1);
        return Tensors{row, call_for_one("slice", {turned, 0, 1}),
                       call_for_one("as_strided", {row, {2}, {2}, 0}),
                       call_for_one("view.dtype", {row, DType::i32})};
      },
      {counted({2})});
  EXPECT_EQ(text_of(out[0]), "[3. 4. 5.]");
  EXPECT_EQ(text_of(out[1]), "[[1. 4.]\n [2. 5.]]");
  EXPECT_EQ(text_of(out[2]), "[0. 2.]");
  for (const AnyTensor& view : out) {
    EXPECT_TRUE(to_cpu(view).aliases(to_cpu(captured)));
  }
  call("zero_", {captured});
  EXPECT_EQ(text_of(out[1]), "[[0. 0.]\n [0. 0.]]");
}

TEST_P(CapturedTensors, are_what_an_input_is_that_was_set_to_them) {
  const AnyTensor captured = counted({2, 3});
  const AnyTensor x = counted({2});
  const AnyTensor y = counted({2});
  const Tensors out = run(
      [&](const Tensors& in) {
        call("set_", {in[0], captured});
        call("set_", {in[1], call_for_one("select", {captured, 1, 0})});
        return Tensors{in[0], call_for_one("sum", {in[1]})};
      },
      {x, y});
  EXPECT_EQ(out[0], x);
  EXPECT_EQ(text_of(out[1]), "3.");
  EXPECT_TRUE(to_cpu(x).aliases(to_cpu(captured)));
  EXPECT_TRUE(to_cpu(y).aliases(to_cpu(captured)));
  EXPECT_NE(x, captured);
  call("fill_", {y, 7});
  EXPECT_EQ(text_of(x), "[[7. 1. 2.]\n [7. 4. 5.]]");
}

TEST_P(CapturedTensors, are_read_of_their_storages_as_in_memory) {
  const AnyTensor captured = call_for_one("slice", {counted({4}), 0, 1, 3});
  const Tensors out = run(
      [&](const Tensors&) {
        return Tensors{
            call_for_one("clone", {call_for_one("as_strided", {captured, {2}, {3}, 0})})};
      },
      {counted({2})});
  EXPECT_EQ(text_of(out[0]), "[0. 3.]");
}

INSTANTIATE_TEST_SUITE_P(Each, CapturedTensors,
                         testing::Values(Way{"plain", untransformed},
                                         Way{"keeping_views", keeping_views},
                                         Way{"without_views", without_views},
                                         Way{"on_opaque", on_opaque}, Way{"graph", by_graph}),
                         name_of_way);

TEST(CapturedOffTheCpu, are_returned_as_themselves) {
  const AnyTensor captured = to_opaque(to_cpu(counted({2})));
  const AnyTensor x = to_opaque(to_cpu(counted({2})));
  EXPECT_EQ(functionalize([&](const Tensors&) { return Tensors{captured}; })({x})[0], captured);
}

/// The error of `name`, called with `arguments` as a program of `transform` calls it.
template <class Error>
std::string refusal(const std::function<Program(const Program&)>& transform, const Tensors& inputs,
                    const std::function<Tensors(const Tensors&)>& program) {
  return complaint_of<Error>([&] { transform(program)(inputs); });
}

TEST(Refusals, of_out_forms_name_what_the_program_called) {
  const AnyTensor a = counted({2});
  for (const AnyTensor& captured : {counted({2}), call_for_one("zeros", {{0}})}) {
    const std::string text =
        refusal<FunctionalizeError>(without_views, {a}, [&](const Tensors& in) {
          return call("add.out", {in[0], in[0], captured});
        });
    EXPECT_EQ(text.find("add.out: "), 0U) << text;
  }
  const AnyTensor opaque = to_opaque(to_cpu(a));
  const std::string text = refusal<DispatchError>(untransformed, {opaque}, [](const Tensors& in) {
    return call("add.out", {in[0], in[0], in[0]});
  });
  EXPECT_EQ(text.find("add.out writes"), 0U) << text;
}

TEST(Refusals, of_out_forms_of_batches_name_what_the_program_called) {
  const AnyTensor a = counted({2, 2});
  const Program add = [](const Tensors& in) { return call("add.out", {in[0], in[0], in[1]}); };
  for (const BatchAxes& axes : {BatchAxes{0, 0}, BatchAxes{0, std::nullopt}}) {
    const auto batched = [&axes](const Program& f) { return vmap(f, axes); };
    const std::string text = refusal<DispatchError>(batched, {a, counted({2})}, add);
    EXPECT_EQ(text.find("add.out writes"), 0U) << text;
  }
  const auto without_batch = [](const Program& f) {
    return vmap(functionalize(f), {0, std::nullopt});
  };
  const std::string text = refusal<DispatchError>(without_batch, {a, counted({2})}, add);
  EXPECT_EQ(text.find("add.out: "), 0U) << text;
}

TEST(Copies, of_views_are_tensors_of_their_own_in_order) {
  const AnyTensor x = counted({2, 3});
  for (const AnyTensor& copy :
       {call_for_one("permute_copy", {x, {1, 0}}), call_for_one("select_copy", {x, 1, 2}),
        call_for_one("slice_copy", {x, 0, 1}), call_for_one("diagonal_copy", {x}),
        call_for_one("expand_copy", {x, {2, 2, 3}}), call_for_one("view_copy", {x, {6}}),
        call_for_one("as_strided_copy", {x, {2}, {1}, 3}),
        call_for_one("select_scatter",
                     {call_for_one("permute", {x, {1, 0}}), call_for_one("zeros", {{2}}), 0, 1})}) {
    const Tensor& tensor = to_cpu(copy);
    EXPECT_TRUE(tensor.is_contiguous() && tensor.storage_offset() == 0) << text_of(copy);
    EXPECT_EQ(tensor.storage().nbytes(), tensor.nbytes()) << text_of(copy);
  }
  EXPECT_EQ(
      text_of(call_for_one("as_strided", {call_for_one("permute_copy", {x, {1, 0}}), {2}, {1}})),
      "[0. 3.]");
  EXPECT_EQ(text_of(call_for_one("as_strided_copy", {element(x, 1), {2}, {1}, 0})), "[3. 4.]");
}

/// `base` with a 0 in place of its element 1, which it takes over.
AnyTensor scattered(AnyTensor base) {
  AnyTensor none = call_for_one("zeros", {call_for_one("select", {base, 0, 1}).sizes()});
  Arguments arguments;
  arguments.emplace_back(std::move(base));
  arguments.emplace_back(std::move(none));
  arguments.emplace_back(0);
  arguments.emplace_back(1);
  return call_for_one("select_scatter", std::move(arguments));
}

TEST(Scatters, write_in_place_only_what_nobody_else_sees) {
  const ExcludeKeys pass(Key::functionalize);  // as it calls them
  Tensor alone = to_cpu(counted(3)).clone();
  const float* const place = alone.data<float>();
  EXPECT_EQ(to_cpu(scattered(from_cpu(std::move(alone)))).data<float>(), place);
  const AnyTensor held = counted(3);
  EXPECT_EQ(text_of(scattered(held)), "[0. 0. 2.]");
  EXPECT_EQ(text_of(held), "[0. 1. 2.]");
  const Tensor tensor = to_cpu(counted(3)).clone();
  EXPECT_EQ(text_of(scattered(from_cpu(tensor))), "[0. 0. 2.]");
  EXPECT_EQ(text_of(from_cpu(tensor)), "[0. 1. 2.]");
  EXPECT_EQ(text_of(scattered(from_cpu(tensor.alias()))), "[0. 0. 2.]");
  EXPECT_EQ(text_of(from_cpu(tensor)), "[0. 1. 2.]");
  EXPECT_EQ(text_of(scattered(from_cpu(to_cpu(counted(3)).clone().expand({2, 3})))),
            "[[0. 1. 2.]\n [0. 0. 0.]]");
}

}  // namespace
}  // namespace byre::test
