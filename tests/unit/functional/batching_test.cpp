// SPDX-License-Identifier: BSL-1.0
#include <byre/functional/batching/detail/batched_tensor.hpp>
#include <byre/functional/dispatch/detail/builtin.hpp>
#include <byre/observe/recording.hpp>

#include "tensor_programs/random_calls.hpp"
#include "tensors.hpp"

namespace byre::test {
namespace {

Tensors sum_of_squares(const Tensors& x) {
  return call("sum", {call_for_one("mul", {x[0], x[0]})});
}

TEST(Vmap, the_function_is_called_once_and_receives_member_sizes) {
  int calls = 0;
  const auto sums = [&calls](std::int64_t axis) {
    const Program of_one = [&](const Tensors& x) {
      ++calls;
      EXPECT_EQ(x[0].sizes(), axis == 0 ? Dims({3}) : Dims({2}));
      return sum_of_squares(x);
    };
    return text_of(vmap(of_one, {axis})({ascending({2, 3})}).front());
  };
  EXPECT_EQ(sums(0), "[ 5. 50.]");
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(sums(-1), "[ 9. 17. 29.]");
  const AnyTensor opaque = to_opaque(to_cpu(ascending({1000, 3})));
  const std::uint64_t before = opaque_counts().computed;
  vmap([](const Tensors& each) { return call("add", {each[0], each[0]}); })({opaque});
  EXPECT_EQ(opaque_counts().computed - before, 1U) << "one call for the whole batch";
}

TEST(Vmap, results_share_no_memory_with_inputs) {
  const AnyTensor x = ascending({2, 3});
  const Tensors out = vmap([](const Tensors& in) { return in; }, {1})({x});
  call("zero_", {x});
  EXPECT_EQ(text_of(out[0]), "[[0. 3.]\n [1. 4.]\n [2. 5.]]");
}

TEST(Vmap, writes_to_the_memory_of_a_batch_are_visible_in_the_batch) {
  const Program fill_second_row = [](const Tensors& in) {
    call("fill_", {in[1], 7});
    return Tensors{in[0]};
  };
  for (const std::int64_t axis : {0, 1, -1}) {
    const AnyTensor x = ascending({2, 2});
    const Tensors out = vmap(fill_second_row, {axis, std::nullopt})({x, element(x, 1)});
    EXPECT_EQ(text_of(x), "[[0. 1.]\n [7. 7.]]");
    EXPECT_EQ(text_of(out[0]), axis == 0 ? text_of(x) : "[[0. 7.]\n [1. 7.]]");
  }
}

TEST(Vmap, transposing_an_input_in_place_does_not_change_its_batch) {
  const Program neg_transposed = [](const Tensors& in) {
    call("transpose_", {in[1], 0, 1});
    return Tensors{call_for_one("neg", {in[0]})};
  };
  for (const std::int64_t axis : {0, 1}) {
    const AnyTensor x = ascending({2, 3});
    const AnyTensor out = vmap(neg_transposed, {axis, std::nullopt})({x, x}).front();
    EXPECT_EQ(x.sizes(), Dims({3, 2}));
    EXPECT_EQ(out.sizes(), axis == 0 ? Dims({2, 3}) : Dims({3, 2}));
  }
}

TEST(Vmap, a_write_in_an_inner_vmap_is_visible_in_both_batches) {
  const AnyTensor x = ascending({1, 2, 2});
  const AnyTensor row = element(element(x, 0), 1);
  const Program inner = vmap(
      [&](const Tensors& each) {
        call("fill_", {row, 7});
        return Tensors{call_for_one("neg", {each[0]}), each[0]};
      },
      {1});
  const Program outer = vmap([&](const Tensors& in) {
    const Tensors results = inner({in[0]});
    call("fill_", {row, 9});  // must not be visible in the results
    return results;
  });
  const Tensors out = outer({x});
  EXPECT_EQ(text_of(out[0]), "[[[-0. -7.]\n  [-1. -7.]]]");
  EXPECT_EQ(text_of(out[1]), "[[[0. 7.]\n  [1. 7.]]]");
}

TEST(Vmap, inputs_without_a_common_batch_are_rejected) {
  const auto first = [](const Tensors& x) { return Tensors{x[0]}; };
  EXPECT_THROW(vmap(first)({}), ArgumentError);
  EXPECT_THROW(vmap(first, {std::nullopt})({ascending({2})}), ArgumentError);
  EXPECT_THROW(vmap(first, {0, 0})({ascending({2})}), ArgumentError);
  EXPECT_THROW(vmap(first, {1})({ascending({2})}), ShapeError);
  EXPECT_THROW(vmap(first)({ascending({})}), ShapeError);
  EXPECT_THROW(vmap(first)({ascending({2}), ascending({3})}), ShapeError);
  const IncludeKeys batched(Key::batched);
  EXPECT_THROW(call("neg", {ascending({2})}), ArgumentError);
}

TEST(Vmap, a_tensor_that_outlives_its_inner_vmap_is_rejected) {
  const auto keeps = vmap([](const Tensors& x) {
    Tensors kept;
    vmap([&kept](const Tensors& y) { return kept = y; })(x);
    return kept;
  });
  EXPECT_THROW(keeps({ascending({2, 2})}), ArgumentError);
}

/// Calls an operator on each member of a batch, with `others` as further arguments.
void call_batched(const AnyTensor& batch, const char* name, const Arguments& others) {
  vmap([&](const Tensors& x) {
    Arguments arguments{x[0]};
    arguments.insert(arguments.end(), others.begin(), others.end());
    return call(name, arguments);
  })({batch});
}

TEST(Vmap, errors_of_rejected_views_and_writes_name_the_operator) {
  const std::pair<const char*, Arguments> calls[] = {
      {"select", {0, 1}}, {"unbind", {}}, {"add_.scalar", {1}}, {"fill_", {1}}, {"squeeze_", {}}};
  for (const auto& [name, others] : calls) {
    const std::string text = complaint_of<DispatchError>([&, name = name, &others = others] {
      call_batched(ascending({2, 2}), name, others);
    });
    EXPECT_TRUE(text.starts_with(name) && says(text, "vmap(functionalize(f))")) << text;
  }
}

TEST(Vmap, arguments_that_are_invalid_for_a_member_are_rejected) {
  const std::pair<const char*, Arguments> calls[] = {
      {"select_copy", {1, 0}},    {"select_copy", {-2, 0}},
      {"sum.axes", {{1}, false}}, {"as_strided_copy", {{2}, {4}, 1}},
      {"permute_copy", {{0, 1}}}, {"expand_copy", {{-1, 4}}},
      {"view_copy", {{8}}}};
  for (const auto& [name, others] : calls) {
    EXPECT_THROW(call_batched(ascending({2, 4}), name, others), ShapeError) << name;
  }
  EXPECT_THROW(call_batched(ascending({4}), "view_copy.dtype", {DType::f64}), ShapeError);
}

TEST(Vmap, the_batch_dimension_counts_toward_max_ndim) {
  const AnyTensor most = zeros(Dims(max_ndim, 1));
  const auto refused = [](const Program& of_one, const AnyTensor& x) {
    EXPECT_TRUE(says(complaint_of<ShapeError>([&] { vmap(of_one)({x}); }),
                     "65 dimensions, allowed are at most 64"));
  };
  refused([](const Tensors& x) { return call("view_copy", {x[0], Dims(max_ndim, 1)}); }, most);
  refused([&](const Tensors&) { return Tensors{most}; }, zeros({2}));
  EXPECT_EQ(vmap([](const Tensors& x) { return x; })({most}).front(), most);
}

TEST(Graphs, tensors_with_more_than_max_ndim_dimensions_are_rejected) {
  const Recording recording(Recording::Views::recorded);
  EXPECT_EQ(complaint_of<ShapeError>([&] { recording.input(Dims(max_ndim + 1, 1), DType::f32); }),
            "input: 65 dimensions, allowed are at most 64 (byre::max_ndim). Merge some of them by "
            "flatten(), view() or reshape().");
  const RecordingScope scope(recording);
  const AnyTensor most = recording.input(Dims(max_ndim, 1), DType::f32);
  for (const char* const view : {"unsqueeze", "view_copy"}) {
    const Argument to = view[0] == 'u' ? Argument(0) : Argument(Dims(max_ndim + 1, 1));
    EXPECT_TRUE(says(complaint_of<ShapeError>([&] { call(view, {most, to}); }), "65 dimensions"));
  }
}

TEST(Batching, user_operators_without_a_rule_are_called_once_per_member) {
  static int calls = 0;
  define("test_ends(Tensor a, Tensor[] others) -> (Tensor, Tensor)")
      .cpu([](const Tensor& a, const Tensors& others) {
        ++calls;
        return Tensors{from_cpu(a.select(0, 0).clone()),
                       from_cpu(add(a.select(0, -1), to_cpu(others[0])))};
      });
  const auto ends = vmap([](const Tensors& x) {
    return call("test_ends", {x[0], Tensors{call_for_one("ones", {{2}})}});
  });
  const Tensors results = ends({ascending({2, 3})});
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(text_of(results[0]), "[0. 3.]");
  EXPECT_EQ(text_of(results[1]), "[[3. 3.]\n [6. 6.]]");
  EXPECT_EQ(calls, 2);
  const Tensors none = ends({call_for_one("zeros", {{0, 3}})});
  EXPECT_EQ(none[0].sizes(), Dims({0}));
  EXPECT_EQ(none[1].sizes(), Dims({0, 2}));
}

TEST(Batching, user_composites_and_rules_are_called_once_per_batch) {
  static int calls = 0;
  define("test_batching_twice(Tensor a) -> Tensor").composite([](const Call& call) {
    ++calls;
    return functional::call("add", {call.arguments[0], call.arguments[0]});
  });
  define("test_negated(Tensor a) -> Tensor")
      .cpu([](const Tensor& a) { return neg(a); })
      .kernel(Key::batched, [](const Call& call) {
        ++calls;
        const Batch batch(call.arguments);
        const AnyTensor value = batch.value_of(call.arguments[0].tensor());
        return Tensors{batch.batched(functional::call_for_one(call.op, {value}))};
      });
  const auto batched = [](const char* name) {
    return text_of(
        vmap([name](const Tensors& x) { return call(name, {x[0]}); })({ascending(3)})[0]);
  };
  EXPECT_EQ(batched("test_batching_twice"), "[0. 2. 4.]");
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(batched("test_negated"), "[-0. -1. -2.]");
  EXPECT_EQ(calls, 2);
}

TEST(Batching, member_results_of_unequal_sizes_dtype_or_number_are_rejected) {
  define("test_as_long_as(Tensor a) -> Tensor").cpu([](const Tensor& a) {
    return Tensor::zeros({static_cast<std::int64_t>(a.at<float>({}))}, DType::f32);
  });
  define("test_zero_like(Tensor a) -> Tensor").cpu([](const Tensor& a) {
    return Tensor::zeros({}, a.at<float>({}) == 0 ? DType::f32 : DType::i64);
  });
  define("test_as_many_as(Tensor a) -> Tensor[]").cpu([](const Tensor& a) {
    return Tensors(static_cast<std::size_t>(a.at<float>({})), from_cpu(a));
  });
  for (const std::string name : {"test_as_long_as", "test_zero_like", "test_as_many_as"}) {
    const auto batched = vmap([name](const Tensors& x) { return call(name, {x[0]}); });
    for (const AnyTensor& x : {ascending({3}), call_for_one("flip", {ascending({3}), {0}})}) {
      const std::string text = complaint_of<ShapeError>([&] { batched({x}); });
      EXPECT_TRUE(text.starts_with(name + " returned")) << text;
    }
  }
}

TEST(Batching, every_builtin_operator_has_a_rule) {
  for (const std::string& name : test::RandomCalls(0).names()) {
    const Operator& op = find(name);
    EXPECT_TRUE(op.has(Tag::pointwise) || op.has(Tag::axis_shift) ||
                op.kernel(Key::batched) != nullptr)
        << name;
  }
}

TEST(Batching, results_of_an_empty_batch_have_a_members_sizes_and_dtype) {
  test::RandomCalls random(test::seed());
  for (const std::string& name : random.names()) {
    for (int round = 0; round < 60; ++round) {
      const bool is_opaque = round % 2 == 1;
      Arguments arguments = random.arguments_of(name);
      const AnyTensor one = call_for_one(name, arguments);
      Tensors none;
      for (Argument& argument : arguments) {
        argument.for_each_tensor([&](AnyTensor& tensor) {
          Dims sizes = tensor.sizes();
          sizes.insert(sizes.begin(), 0);
          const Tensor batch = Tensor::empty(sizes, tensor.dtype());
          none.push_back(is_opaque ? to_opaque(batch) : from_cpu(batch));
        });
      }
      const auto of_each = [&](const Tensors& each) {
        auto next = each.begin();
        for (Argument& argument : arguments) {
          argument.for_each_tensor([&next](AnyTensor& tensor) { tensor = *next++; });
        }
        return Tensors{call_for_one(name, arguments)};
      };
      const AnyTensor computed = vmap(of_each)(none).front();
      Dims sizes = one.sizes();
      sizes.insert(sizes.begin(), 0);
      ASSERT_EQ(computed.sizes(), sizes) << name;
      ASSERT_EQ(computed.dtype(), one.dtype()) << name;
    }
  }
}

}  // namespace
}  // namespace byre::test
