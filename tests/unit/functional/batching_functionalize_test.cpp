// SPDX-License-Identifier: BSL-1.0
// vmap() of functions that write in place: the last use case of the design note
// "Functionalization".
#include "tensors.hpp"

namespace byre::test {
namespace {

/// Doubles the first element in place.
Tensors double_first(const Tensors& x) {
  call("mul_.scalar", {element(x[0], 0), 2});
  return {x[0]};
}

/// Returns prefix sums, computed by writing views of a new tensor.
Tensors running_sums(const Tensors& x) {
  const AnyTensor sums = call_for_one("zeros", {x[0].sizes()});
  for (std::int64_t index = 0; index < x[0].sizes()[0]; ++index) {
    const AnyTensor rest = call_for_one("slice", {sums, 0, index});
    call("add_", {rest, element(x[0], index)});
  }
  return {sums};
}

/// Copies an input, zeroes the input, and returns the copy.
Tensors copy_then_zero(const Tensors& in) {
  const AnyTensor copy = call_for_one("clone", {in[0]});
  call("copy_", {copy, in[0]});
  call("zero_", {in[0]});
  return {copy};
}

TEST(VmapOfFunctionalized, opaque_and_cpu_tensors_get_equal_results) {
  const std::string before = "[[0. 1. 2.]\n [3. 4. 5.]]";
  const std::string zeros = "[[0. 0. 0.]\n [0. 0. 0.]]";
  const std::pair<Program, std::string> all[] = {
      {vmap(functionalize(running_sums)), "[[ 0.  1.  3.]\n [ 3.  7. 12.]] of " + before},
      {vmap(functionalize(double_first), {1}),
       "[[0. 3.]\n [2. 4.]\n [4. 5.]] of [[0. 2. 4.]\n [3. 4. 5.]]"},
      {vmap(functionalize(copy_then_zero)), before + " of " + zeros},
      {functionalize(copy_then_zero), before + " of " + zeros},
  };
  for (const auto& [program, effect] : all) {
    for (const AnyTensor& x : {ascending({2, 3}), to_opaque(to_cpu(ascending({2, 3})))}) {
      const AnyTensor result = program({x}).front();
      EXPECT_EQ(text_of_value(result) + " of " + text_of_value(x), effect);
    }
  }
}

TEST(VmapOfFunctionalized, an_input_that_is_only_read_still_shares_its_data) {
  const AnyTensor x = ascending({2, 3});
  const AnyTensor y = ascending({2, 3});
  const Tensor clone = to_cpu(y).lazy_clone();
  vmap(functionalize([](const Tensors& in) { return call("add_", {in[0], in[1]}); }))({x, y});
  EXPECT_EQ(text_of(x), "[[ 0.  2.  4.]\n [ 6.  8. 10.]]");
  EXPECT_TRUE(to_cpu(y).storage().shares_data_with(clone.storage()));
}

TEST(VmapAndThePass, a_write_to_the_memory_of_another_input_is_rejected) {
  const AnyTensor x = ascending({2, 2});
  const Program zero = [](const Tensors& in) {
    call("zero_", {in[0]});
    return Tensors{in[1]};
  };
  for (const BatchAxes& axes : std::initializer_list<BatchAxes>{{}, {0, 1}, {0, std::nullopt}}) {
    const AnyTensor other = axes.empty() ? call_for_one("alias", {x}) : x;
    for (const Program& both : {vmap(functionalize(zero), axes), functionalize(vmap(zero, axes))}) {
      EXPECT_THROW(both({x, other}), DispatchError);
      EXPECT_EQ(text_of(x), "[[0. 1.]\n [2. 3.]]");
    }
  }
  functionalize(vmap(zero))({x, ascending({2, 2})});
  EXPECT_EQ(text_of(x), "[[0. 0.]\n [0. 0.]]");
}

TEST(VmapAndThePass, writing_a_batch_to_an_unbatched_tensor_is_rejected) {
  const AnyTensor x = ascending({3});
  for (const char* const name : {"add_", "copy_"}) {
    const Program write = [&](const Tensors& in) { return call(name, {in[0], in[1]}); };
    const BatchAxes axes{std::nullopt, 0};
    for (const Program& both :
         {vmap(functionalize(write), axes), functionalize(vmap(write, axes))}) {
      const std::string text = complaint_of<DispatchError>([&] { both({x, ascending({2, 3})}); });
      EXPECT_TRUE(text.starts_with(name + std::string(": "))) << text;
      EXPECT_EQ(text_of(x), "[0. 1. 2.]");
    }
  }
  const Program sum_up = [](const Tensors& in) {
    const AnyTensor sum = call_for_one("zeros", {{3}});
    return vmap([&](const Tensors& each) { return call("add_", {sum, each[0]}); })({in[0]});
  };
  EXPECT_THROW(functionalize(sum_up)({ascending({2, 3})}), DispatchError);
}

TEST(VmapOfFunctionalized, changing_the_sizes_or_dtype_of_a_cpu_input_is_rejected) {
  const auto unsqueeze = vmap(functionalize([](const Tensors& in) {
    call("unsqueeze_", {in[0], 0});
    return Tensors();
  }));
  EXPECT_THROW(unsqueeze({ascending({2, 3})}), DispatchError);
  const auto to_integers = vmap(functionalize([](const Tensors& in) {
    return call("set_", {in[0], call_for_one("to", {in[0], DType::i64})});
  }));
  EXPECT_THROW(to_integers({ascending({2, 3})}), DispatchError);
  const AnyTensor x = to_opaque(to_cpu(ascending({2, 3})));
  unsqueeze({x});
  EXPECT_EQ(x.sizes(), Dims({2, 1, 3}));
}

TEST(VmapOfFunctionalized, a_write_to_an_expanded_input_is_rejected) {
  const AnyTensor x = call_for_one("expand", {ascending(3), {2, 3}});
  const Program add = [](const Tensors& in) { return call("add_.scalar", {in[0], 1}); };
  EXPECT_THROW(vmap(functionalize(add))({x}), ShapeError);
  EXPECT_EQ(text_of(element(x, 0)), "[0. 1. 2.]");
}

TEST(VmapOfFunctionalized, nested_vmaps_write_the_input) {
  const AnyTensor x = ascending({2, 2, 2});
  EXPECT_EQ(vmap(vmap(functionalize(double_first)))({x}).front(), x);
  EXPECT_EQ(text_of(x), "[[[ 0.  1.]\n  [ 4.  3.]]\n\n [[ 8.  5.]\n  [12.  7.]]]");
}

TEST(VmapOfFunctionalized, writing_a_batchs_memory_through_an_unbatched_input_throws) {
  const AnyTensor x = ascending({2, 2});
  const auto with_row = [&](const Program& f) {
    return vmap(functionalize(f), {0, std::nullopt})({x, element(x, 1)});
  };
  EXPECT_THROW(with_row([](const Tensors& in) {
                 return call("fill_", {in[1], 5});
               }),
               DispatchError);
  EXPECT_EQ(text_of(x), "[[0. 1.]\n [2. 3.]]");
  const Program read = [](const Tensors& in) { return call("add", {in[0], in[1]}); };
  EXPECT_EQ(text_of(with_row(read).front()), "[[2. 4.]\n [4. 6.]]")
      << "reading such an input is allowed";
}

TEST(VmapOfFunctionalized, an_error_leaves_only_unbatched_inputs_written) {
  const AnyTensor x = ascending({2, 2});
  const AnyTensor y = ascending({2, 2});
  const AnyTensor row = ascending({2});
  const Program write = [](const Tensors& in) {
    for (const AnyTensor& tensor : in) {
      call("fill_", {tensor, 7});
    }
    return call("unsqueeze_", {in[1], 0});
  };
  EXPECT_THROW(vmap(functionalize(write), {0, 0, std::nullopt})({x, y, row}), DispatchError);
  EXPECT_EQ(texts_of({x, y, row}), "[[0. 1.]\n [2. 3.]]\n[[0. 1.]\n [2. 3.]]\n[7. 7.]\n");
}

TEST(VmapOfFunctionalized, reading_a_captured_alias_of_an_input_is_rejected) {
  const AnyTensor x = ascending({2, 2});
  const Program read_another = functionalize([x](const Tensors& in) {
    call("zero_", {in[0]});
    return call("add", {in[0], element(x, 0)});
  });
  EXPECT_THROW(vmap(read_another)({x}), FunctionalizeError);
  const Program inner = vmap(read_another);
  EXPECT_THROW(vmap(inner)({call_for_one("unsqueeze", {x, 0})}), FunctionalizeError);
  EXPECT_EQ(text_of(x), "[[0. 1.]\n [2. 3.]]");
  EXPECT_EQ(text_of(vmap(read_another)({ascending({2, 2})}).front()), "[[0. 1.]\n [0. 1.]]");
}

/// Expects that `program` is rejected, because it writes a batch to a tensor from outside the
/// batch's vmap().
void expect_batch_refused(const Program& program) {
  const std::string text = complaint_of<DispatchError>([&] { program({ascending({2, 3})}); });
  EXPECT_TRUE(says(text, "cannot write one value per batch member"));
}

TEST(FunctionalizedVmap, an_inner_vmap_cannot_write_an_outer_batch_to_its_inputs) {
  expect_batch_refused(functionalize([](const Tensors& in) {
    const AnyTensor sum = call_for_one("zeros", {Dims({2, 3})});
    vmap([&](const Tensors& outer) {
      vmap([&](const Tensors& inner) {
        call("add_", {inner[0], outer[0]});
        return Tensors();
      })({sum});
      return Tensors();
    })({in[0]});
    return Tensors{sum};
  }));
}

TEST(UnderThePass, factories_create_tensors_on_the_inputs_backend) {
  const AnyTensor opaque = to_opaque(to_cpu(ascending(2)));
  const AnyTensor x = to_functional(opaque);
  call("zero_", {x});
  EXPECT_EQ(from_functional(x).keys(), opaque.keys());
  const Tensors made = functionalize(
      [](const Tensors&) { return Tensors{call_for_one("zeros", {Dims({2})})}; })({x});
  EXPECT_EQ(from_functional(made[0]).keys(), opaque.keys());
}

TEST(FunctionalizedVmap, set_cannot_store_a_batch_outside_of_its_vmap) {
  expect_batch_refused(functionalize([](const Tensors& in) {
    const AnyTensor sum = call_for_one("zeros", {Dims({3})});
    vmap([&](const Tensors& each) {
      call("set_", {sum, each[0]});
      return Tensors();
    })({in[0]});
    return Tensors{sum};
  }));
  expect_batch_refused(functionalize([](const Tensors& in) {
    const AnyTensor outer = call_for_one("zeros", {Dims({3})});
    vmap([&](const Tensors& each) {
      const AnyTensor sum = call_for_one("zeros", {Dims({3})});
      call("set_", {sum, outer});  // from here on, `sum` aliases a tensor outside of the vmap
      call("add_", {sum, each[0]});
      return Tensors();
    })({in[0]});
    return Tensors{outer};
  }));
  const AnyTensor x = ascending({2, 3});
  const Tensors set_within = functionalize(vmap([](const Tensors& each) {
    const AnyTensor sum = call_for_one("zeros", {Dims({3})});
    call("set_", {sum, each[0]});
    call("mul_.scalar", {sum, 2});
    return Tensors{sum};
  }))({x});
  EXPECT_EQ(text_of(set_within.front()), "[[ 0.  2.  4.]\n [ 6.  8. 10.]]");
}

}  // namespace
}  // namespace byre::test
