// SPDX-License-Identifier: BSL-1.0
// What functionalize() refuses, and what is not seen in the results of a program. Results themselves, what aliases and
// which inputs are written are compared for random programs in tests/functionalization.
#include "tensors.hpp"

namespace byre::test {
namespace {

class Functionalized : public testing::TestWithParam<FunctionalizeOptions> {
 protected:
  static Program functionalized(Program f) { return functionalize(std::move(f), GetParam()); }
};

TEST_P(Functionalized, programs_write_their_inputs_by_a_copy_at_the_end) {
  const AnyTensor x = counted({2, 2});
  const float* const elements = to_cpu(x).data<float>();
  const Tensors out = functionalized([&](const Tensors& in) {
    call("add_.scalar", {element(in[0], 1), 10});
    EXPECT_EQ(text_of(x), "[[0. 1.]\n [2. 3.]]") << "nothing is written while the program runs";
    return Tensors{call_for_one("sum", {in[0]})};
  })({x});
  EXPECT_EQ(text_of(x), "[[ 0.  1.]\n [12. 13.]]");
  EXPECT_EQ(to_cpu(x).data<float>(), elements) << "in the memory there was";
  EXPECT_EQ(text_of(out[0]), "26.");
}

TEST_P(Functionalized, programs_that_write_nothing_write_nothing) {
  const AnyTensor x = counted({2});
  const Tensor clone = to_cpu(x).lazy_clone();
  functionalized([](const Tensors& in) {
    return Tensors{call_for_one("add", {in[0], in[0]})};
  })({x});
  EXPECT_TRUE(clone.storage().shares_data_with(to_cpu(x).storage()));
}

TEST_P(Functionalized, inputs_that_somebody_else_sees_do_not_grow) {
  const auto grow = functionalized([](const Tensors& in) { return call("resize_", {in[0], {3}}); });
  const AnyTensor x = counted({2});
  const AnyTensor view = call_for_one("alias", {x});
  EXPECT_THROW(grow({x}), StateError);
  const Tensor held = Tensor::zeros({2}, DType::f32);
  EXPECT_THROW(grow({from_cpu(held)}), StateError);
  EXPECT_EQ(text_of(x), "[0. 1.]");
}

TEST_P(Functionalized, inputs_of_two_view_families_are_refused) {
  const shadow::ReshapeModeScope warns(shadow::ReshapeMode::warn);
  const Tensor x = Tensor::zeros({4}, DType::f32);
  const auto nothing = functionalized([](const Tensors&) { return Tensors(); });
  EXPECT_THROW(nothing({from_cpu(x), from_cpu(x.reshape({2, 2}))}), FunctionalizeError);
  nothing({from_cpu(x), from_cpu(x.view({2, 2}))});
}

TEST_P(Functionalized, inputs_that_are_tracked_are_written_as_any) {
  const shadow::ReshapeModeScope warns(shadow::ReshapeMode::warn);
  const Tensor x = Tensor::zeros({4}, DType::f32);
  const Tensor reshaped = x.reshape({2, 2});
  const std::uint64_t before = shadow::summary().violations;
  const auto handler = shadow::set_violation_handler([](const shadow::Violation&) noexcept {});
  functionalized([](const Tensors& in) {
    return call("add_.scalar", {element(in[0], 1), 1});
  })({from_cpu(x)});
  EXPECT_EQ(shadow::summary().violations, before);
  EXPECT_EQ(reshaped.at<float>({0, 1}), 1);
  EXPECT_EQ(shadow::summary().violations, before + 1);
  shadow::set_violation_handler(handler);
}

TEST_P(Functionalized, tensors_that_a_program_captures_are_read_and_never_written) {
  const AnyTensor captured = counted({2});
  const Tensors out = functionalized([&](const Tensors& in) {
    return Tensors{call_for_one("add", {in[0], call_for_one("view", {captured, {1, 2}})})};
  })({counted({2})});
  EXPECT_EQ(text_of(out[0]), "[[0. 2.]]");
  EXPECT_THROW(functionalized([&](const Tensors&) {
                 call("zero_", {captured});
                 return Tensors();
               })({}),
               FunctionalizeError);
  EXPECT_THROW(functionalized([&](const Tensors&) {
                 call("zero_", {call_for_one("view", {captured, {1, 2}})});
                 return Tensors();
               })({}),
               FunctionalizeError);
  EXPECT_EQ(text_of(captured), "[0. 1.]");
}

TEST_P(Functionalized, tensors_that_a_program_captures_are_not_changed_in_place) {
  const AnyTensor captured = call_for_one("view", {counted({6}), {2, 3}});
  const auto refused = [&](const char* name, Arguments arguments) {
    EXPECT_THROW(functionalized([&](const Tensors&) { return call(name, arguments); })({}),
                 FunctionalizeError)
        << name;
  };
  refused("transpose_", {captured, 0, 1});
  refused("resize_", {captured, {2}});
  refused("set_", {captured, counted({2})});
}

TEST_P(Functionalized, tensors_that_a_program_captures_are_no_inputs_too) {
  const AnyTensor x = counted({3});
  for (const char* const name : {"mul.scalar", "fill_", "view"}) {
    EXPECT_THROW(
        functionalized([&](const Tensors& in) {
          call("add_.scalar", {in[0], 1});
          return name == std::string("view") ? call(name, {x, {3, 1}}) : call(name, {x, 2});
        })({x}),
        FunctionalizeError);
  }
  EXPECT_THROW(functionalized([&](const Tensors& in) {
                 return call("copy_", {call_for_one("clone", {in[0]}), x});
               })({x}),
               FunctionalizeError);
  EXPECT_THROW(functionalized([&](const Tensors&) {
                 return vmap([](const Tensors& batch) { return batch; })({x});
               })({x}),
               FunctionalizeError);
  EXPECT_EQ(text_of(x), "[0. 1. 2.]");
}

TEST_P(Functionalized, programs_that_throw_write_nothing) {
  const AnyTensor x = counted({2});
  EXPECT_THROW(functionalized([](const Tensors& in) {
                 call("zero_", {in[0]});
                 return call("no_such_operator", {in[0]});
               })({x}),
               DispatchError);
  EXPECT_EQ(text_of(x), "[0. 1.]");
  EXPECT_TRUE(thread_keys().included.empty());
}

TEST_P(Functionalized, inputs_of_several_dtypes_over_one_storage_are_bytes) {
  const AnyTensor x = counted({2});
  const AnyTensor bytes = call_for_one("view.dtype", {x, DType::u8});
  functionalized([](const Tensors& in) {
    call("zero_", {call_for_one("slice", {in[1], 0, 4})});
    call("add_.scalar", {in[0], 1});
    return Tensors();
  })({x, bytes});
  EXPECT_EQ(text_of(x), "[1. 1.]");
  const AnyTensor three = counted({3});
  const AnyTensor pair =
      call_for_one("view.dtype", {call_for_one("slice", {three, 0, 0, 2}), DType::complex64});
  const auto add = functionalized([](const Tensors& in) {
    call("zero_", {in[0]});
    return call("add_.scalar", {in[1], 1});
  });
  add({pair, three});
  EXPECT_EQ(text_of(three), "[1. 1. 3.]");
  const AnyTensor flags = call_for_one("ge.scalar", {counted(4), 1});
  EXPECT_THROW(add({call_for_one("view.dtype", {flags, DType::u8}), flags}), FunctionalizeError);
}

INSTANTIATE_TEST_SUITE_P(Each, Functionalized, testing::ValuesIn(all_options), name_of_options);

}  // namespace
}  // namespace byre::test
