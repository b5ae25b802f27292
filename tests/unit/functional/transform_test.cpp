// SPDX-License-Identifier: BSL-1.0
// Errors of functionalize(), and its effects other than results. tests/functionalization compares
// results, aliases and written inputs for random programs.
#include "tensors.hpp"

namespace byre::test {
namespace {

class Functionalized : public testing::TestWithParam<FunctionalizeOptions> {
 protected:
  static Program functionalized(Program f) { return functionalize(std::move(f), GetParam()); }
};

TEST_P(Functionalized, inputs_are_written_in_place_after_the_program_has_run) {
  const AnyTensor x = ascending({2, 2});
  const AnyTensor y = ascending({2});
  const Tensor clone = to_cpu(y).lazy_clone();
  const float* const elements = to_cpu(x).data<float>();
  const Tensors out = functionalized([&](const Tensors& in) {
    call("add_.scalar", {element(in[0], 1), 10});
    EXPECT_EQ(text_of(x), "[[0. 1.]\n [2. 3.]]") << "inputs are unchanged while the program runs";
    return call("sum", {call_for_one("add", {in[0], in[1]})});
  })({x, y});
  EXPECT_EQ(text_of(x), "[[ 0.  1.]\n [12. 13.]]");
  EXPECT_EQ(to_cpu(x).data<float>(), elements) << "written in place";
  EXPECT_TRUE(clone.storage().shares_data_with(to_cpu(y).storage())) << "y was only read";
  EXPECT_EQ(text_of(out[0]), "28.");
}

TEST_P(Functionalized, growing_an_input_with_outside_views_is_rejected) {
  const auto grow = functionalized([](const Tensors& in) { return call("resize_", {in[0], {3}}); });
  const AnyTensor x = ascending(2);
  const AnyTensor view = call_for_one("alias", {x});
  EXPECT_THROW(grow({x}), StateError);
  const Tensor held = Tensor::zeros({2}, DType::f32);
  EXPECT_THROW(grow({from_cpu(held)}), StateError);
  EXPECT_EQ(text_of(x), "[0. 1.]");
}

TEST_P(Functionalized, errors_name_the_called_operation) {
  const auto complaint_of_call = [](const char* name, const AnyTensor& to, const Argument& from) {
    const Program program = [&](const Tensors&) { return call(name, {to, from}); };
    return complaint_of<ShapeError>([&] { functionalized(program)({ascending(1)}); });
  };
  const AnyTensor x = to_functional(ascending({2, 3}));
  EXPECT_TRUE(says(complaint_of_call("copy_", element(x, 0), x),
                   "copy_: cannot broadcast sizes [2, 3] to those of the written tensor, [3]"));
  const AnyTensor expanded = call_for_one("expand", {element(x, 0), {2, 3}});
  EXPECT_TRUE(says(complaint_of_call("add_.scalar", expanded, 1),
                   "add_.scalar: cannot write a tensor whose elements share memory"));
}

TEST_P(Functionalized, inputs_of_two_view_families_are_rejected) {
  const shadow::ReshapeModeScope warns(shadow::ReshapeMode::warn);
  const Tensor x = Tensor::zeros({4}, DType::f32);
  const auto nothing = functionalized([](const Tensors&) { return Tensors(); });
  EXPECT_THROW(nothing({from_cpu(x), from_cpu(x.reshape({2, 2}))}), FunctionalizeError);
  nothing({from_cpu(x), from_cpu(x.view({2, 2}))});
}

TEST_P(Functionalized, writes_to_a_tracked_input_are_reported_once) {
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

TEST_P(Functionalized, captured_tensors_are_readable_and_not_writable) {
  const AnyTensor captured = call_for_one("view", {ascending({6}), {2, 3}});
  const Tensors out = functionalized([&](const Tensors& in) {
    return Tensors{call_for_one("add", {in[0], call_for_one("view", {captured, {6}})})};
  })({ascending({6})});
  EXPECT_EQ(text_of(out[0]), "[ 0.  2.  4.  6.  8. 10.]");
  const std::pair<const char*, Arguments> calls[] = {{"zero_", {captured}},
                                                     {"transpose_", {captured, 0, 1}},
                                                     {"resize_", {captured, {2}}},
                                                     {"set_", {captured, ascending({2})}}};
  for (const auto& [name, arguments] : calls) {
    const Program change = [&, name = name, &arguments = arguments](const Tensors&) {
      return call(name, arguments);
    };
    EXPECT_THROW(functionalized(change)({}), FunctionalizeError) << name;
  }
  const Program zero_view = [&](const Tensors&) { return call("zero_", {element(captured, 1)}); };
  EXPECT_THROW(functionalized(zero_view)({}), FunctionalizeError);
  EXPECT_EQ(text_of(captured), "[[0. 1. 2.]\n [3. 4. 5.]]");
}

TEST_P(Functionalized, capturing_an_alias_of_an_input_is_rejected) {
  const AnyTensor x = ascending({3});
  const std::pair<const char*, Arguments> uses[] = {{"mul.scalar", {x, 2}},
                                                    {"fill_", {x, 2}},
                                                    {"view", {x, {3, 1}}},
                                                    {"copy_", {to_functional(ascending(3)), x}}};
  const auto refused = [&](const std::function<Tensors()>& use) {
    const Program f = [&](const Tensors& in) {
      call("add_.scalar", {in[0], 1});
      return use();
    };
    EXPECT_THROW(functionalized(f)({x}), FunctionalizeError);
  };
  for (const auto& [name, arguments] : uses) {
    refused([&, name = name, &arguments = arguments] { return call(name, arguments); });
  }
  refused([&] { return vmap([](const Tensors& batch) { return batch; })({x}); });
  EXPECT_EQ(text_of(x), "[0. 1. 2.]");
}

TEST_P(Functionalized, inputs_of_several_dtypes_share_a_base_of_bytes) {
  const auto add = functionalized([](const Tensors& in) {
    call("zero_", {in[0]});
    return call("add_.scalar", {in[1], 1});
  });
  const AnyTensor three = ascending({3});
  const AnyTensor first_two = call_for_one("slice", {three, 0, 0, 2});
  add({call_for_one("view.dtype", {first_two, DType::complex64}), three});
  EXPECT_EQ(text_of(three), "[1. 1. 3.]");
  const AnyTensor flags = call_for_one("ge.scalar", {ascending(4), 1});
  EXPECT_THROW(add({call_for_one("view.dtype", {flags, DType::u8}), flags}), FunctionalizeError);
}

INSTANTIATE_TEST_SUITE_P(Each, Functionalized, testing::ValuesIn(all_options), name_of_options);

}  // namespace
}  // namespace byre::test
