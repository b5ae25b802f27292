// SPDX-License-Identifier: BSL-1.0
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

TEST_P(Functionalized, inputs_that_alias_see_each_others_writes) {
  const AnyTensor x = counted({4});
  const AnyTensor row = call_for_one("slice", {x, 0, 1, 3});
  const Tensors out = functionalized([](const Tensors& in) {
    call("zero_", {in[1]});
    return Tensors{call_for_one("add.scalar", {in[0], 1})};
  })({x, row});
  EXPECT_EQ(text_of(out[0]), "[1. 1. 1. 4.]");
  EXPECT_EQ(text_of(x), "[0. 0. 0. 3.]");
  EXPECT_EQ(text_of(row), "[0. 0.]");
}

TEST_P(Functionalized, inputs_that_are_one_tensor_are_one_tensor) {
  const AnyTensor x = counted({2});
  functionalized([](const Tensors& in) {
    EXPECT_EQ(in[0], in[1]);
    call("add_", {in[0], in[1]});
    return Tensors();
  })({x, x});
  EXPECT_EQ(text_of(x), "[0. 2.]");
}

TEST_P(Functionalized, outputs_alias_the_inputs_and_each_other_as_without_the_pass) {
  const AnyTensor x = counted({4});
  const Tensors out = functionalized([](const Tensors& in) {
    const AnyTensor made = call_for_one("mul.scalar", {in[0], 2});
    return Tensors{in[0], call_for_one("slice", {in[0], 0, 2}), made,
                   call_for_one("view", {made, {2, 2}}), made};
  })({x});
  EXPECT_EQ(out[0], x);
  EXPECT_TRUE(to_cpu(out[1]).aliases(to_cpu(x)));
  EXPECT_TRUE(to_cpu(out[2]).aliases(to_cpu(out[3])));
  EXPECT_FALSE(to_cpu(out[2]).aliases(to_cpu(x)));
  EXPECT_EQ(out[4], out[2]);
  call("zero_", {out[1]});
  EXPECT_EQ(text_of(x), "[0. 1. 0. 0.]");
}

TEST_P(Functionalized, outputs_of_equal_value_that_do_not_alias_do_not) {
  const Tensors out = functionalized([](const Tensors& in) {
    const AnyTensor a = call_for_one("zeros", {{2}});
    call("copy_", {a, in[0]});
    return Tensors{a, call_for_one("clone", {a})};
  })({counted({2})});
  call("zero_", {out[0]});
  EXPECT_EQ(text_of(out[1]), "[0. 1.]");
}

TEST_P(Functionalized, inputs_that_are_transposed_resized_or_set_in_place_are_so_afterwards) {
  const AnyTensor x = counted({2, 2});
  const AnyTensor y = counted({4});
  const AnyTensor z = counted({2});
  functionalized([](const Tensors& in) {
    call("transpose_", {in[0], 0, 1});
    call("add_.scalar", {element(in[0], 0), 10});
    call("resize_", {in[1], {2}});
    call("zero_", {in[1]});
    call("set_", {in[2], element(in[0], 1)});
    return Tensors();
  })({x, y, z});
  EXPECT_EQ(text_of(x), "[[10. 12.]\n [ 1.  3.]]");
  EXPECT_EQ(text_of(y), "[0. 0.]");
  EXPECT_EQ(text_of(call_for_one("as_strided", {y, {4}, {1}, 0})), "[0. 0. 2. 3.]");
  EXPECT_EQ(text_of(z), "[1. 3.]");
  EXPECT_TRUE(to_cpu(z).aliases(to_cpu(x)));
}

TEST_P(Functionalized, inputs_that_grow_have_memory_of_their_own) {
  const AnyTensor x = counted({2});
  functionalized([](const Tensors& in) {
    call("resize_", {in[0], {3}});
    call("add_.scalar", {in[0], 1});
    return Tensors();
  })({x});
  EXPECT_EQ(text_of(x), "[1. 2. 1.]");
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

TEST_P(Functionalized, inputs_that_see_a_part_have_the_memory_behind_it) {
  const AnyTensor x = counted({4});
  const Tensors out = functionalized([](const Tensors& in) {
    const AnyTensor all = call_for_one("as_strided", {in[0], {4}, {1}, 0});
    call("add_.scalar", {element(all, 3), 10});
    return Tensors{call_for_one("sum", {all})};
  })({call_for_one("slice", {x, 0, 0, 2})});
  EXPECT_EQ(text_of(out[0]), "16.");
  EXPECT_EQ(text_of(x), "[ 0.  1.  2. 13.]");
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

TEST_P(Functionalized, operators_may_write_two_views_of_one_tensor) {
  define_exchange();
  const AnyTensor x = counted({4});
  functionalized([](const Tensors& in) {
    for (std::int64_t i = 0; i < 300; ++i) {
      call("test_exchange_", {element(in[0], i % 4), element(in[0], (i + 1) % 4)});
    }
    return Tensors();
  })({x});
  const AnyTensor y = counted({4});
  for (std::int64_t i = 0; i < 300; ++i) {
    call("test_exchange_", {element(y, i % 4), element(y, (i + 1) % 4)});
  }
  EXPECT_EQ(text_of(x), text_of(y));
}

TEST_P(Functionalized, operators_may_not_write_one_element_as_two) {
  define_exchange();
  const AnyTensor x = counted({4});
  const auto exchange = [&](Dims first, Dims second) {
    functionalized([&](const Tensors& in) {
      const auto part = [&](const Dims& ends) {
        return ends.empty() ? in[0] : call_for_one("slice", {in[0], 0, ends[0], ends[1]});
      };
      return call("test_exchange_", {part(first), part(second)});
    })({x});
  };
  EXPECT_THROW(exchange({}, {}), ShapeError);
  EXPECT_THROW(exchange({0, 2}, {0, 2}), ShapeError);
  EXPECT_THROW(exchange({0, 2}, {1, 3}), ShapeError);
  exchange({0, 2}, {2, 4});
  EXPECT_EQ(text_of(x), "[2. 3. 0. 1.]");
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
