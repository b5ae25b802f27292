// SPDX-License-Identifier: BSL-1.0
// Which operators of a graph become one kernel.
#include <array>
#include <complex>
#include <optional>
#include <vector>

#include "fusion.hpp"

namespace examples::vulkan::test {
namespace {

TEST(Fusion, parts_chains_that_are_longer_than_a_kernel) {
  const Program program = [](const Tensors& in) {
    AnyTensor value = in[0];
    for (int step = 0; step < 200; ++step) {
      value = call_for_one(step % 3 == 0 ? "add" : "sub", {value, in[0]});
    }
    return Tensors{value};
  };
  const VulkanGraph fused = expect_same(program, {counted({33})});
  for (const Step& step : fused.steps()) {
    EXPECT_LE(std::get<FusedKernel>(step).instructions.size(), fused_instructions);
  }
  EXPECT_EQ(steps_of(fused), "fused:1 fused:1 fused:1 fused:1 fused:1 fused:1 fused:1 fused:1");
}

TEST(Fusion, fills_kernels_to_their_last_instruction) {
  for (int operators = fused_instructions - 4; operators <= static_cast<int>(fused_instructions);
       ++operators) {
    const Program program = [operators](const Tensors& in) {
      AnyTensor value = in[0];
      for (int step = 0; step < operators; ++step) {
        value = call_for_one(step % 2 == 0 ? "neg" : "relu", {value});
      }
      return Tensors{value};
    };
    const VulkanGraph fused = expect_same(program, {counted({33})});
    EXPECT_EQ(kernels_of(fused) == 1, operators + 2 <= static_cast<int>(fused_instructions))
        << operators << ", with a load and a store";
  }
}

/// Of which there are 2^40 ways from the output to the input.
TEST(Fusion, computes_once_what_is_used_twice_on_the_way) {
  const Program program = [](const Tensors& in) {
    AnyTensor value = in[0];
    for (int step = 0; step < 40; ++step) {
      value = call_for_one("mul.scalar", {call_for_one("add", {value, value}), 0.5});
    }
    return Tensors{value};
  };
  const Graph graph = capture(program, {from_cpu(counted({5}))}).graph;
  EXPECT_LT(VulkanGraph(graph).steps().size(), 6U);
}

TEST(Fusion, parts_sums_of_more_inputs_than_a_kernel_has) {
  const Program program = [](const Tensors& in) {
    AnyTensor sum = in[0];
    for (std::size_t index = 1; index < in.size(); ++index) {
      sum = call_for_one("add", {sum, in[index]});
    }
    return Tensors{sum};
  };
  std::vector<Tensor> inputs;
  for (int index = 0; index < 8; ++index) {
    inputs.push_back(counted({6, 5}, index));
  }
  EXPECT_EQ(steps_of(expect_same(program, inputs)), "fused:1 fused:1 fused:1");
}

TEST(Fusion, parts_sums_of_more_numbers_than_a_kernel_has) {
  for (const std::size_t numbers : {fused_numbers - 1, fused_numbers, fused_numbers + 1}) {
    const Program program = [numbers](const Tensors& in) {
      AnyTensor sum = call_for_one("full", {{4}, 0.125});
      for (std::size_t number = 1; number < numbers; ++number) {
        sum = call_for_one("add", {sum, call_for_one("full", {{4}, static_cast<double>(number)})});
      }
      return Tensors{call_for_one("add", {sum, in[0]})};
    };
    expect_same(program, {counted({4})});
  }
}

TEST(Fusion, computes_a_chain_that_several_kernels_need_once) {
  const Program program = [](const Tensors& in) {
    AnyTensor chain = in[0];
    for (int step = 0; step < 6; ++step) {
      chain = call_for_one("add", {call_for_one("mul.scalar", {chain, 0.5}), in[0]});
    }
    return Tensors{call_for_one("neg", {chain}), call_for_one("add", {chain, in[1]})};
  };
  const VulkanGraph fused = expect_same(program, {counted({5}), counted({3, 5})});
  EXPECT_EQ(steps_of(fused), "fused:1 fused:1 fused:1")
      << "it, and one for the outputs of each sizes";
}

TEST(Fusion, computes_what_is_cheap_anew_where_it_is_needed) {
  const Program program = [](const Tensors& in) {
    const AnyTensor twice = call_for_one("add", {in[0], in[0]});
    return Tensors{call_for_one("neg", {twice}), call_for_one("add", {twice, in[1]})};
  };
  EXPECT_EQ(steps_of(expect_same(program, {counted({5}), counted({3, 5})})), "fused:1 fused:1");
}

TEST(Fusion, keeps_what_is_read_elsewhere_than_it_is_made) {
  const Program program = [](const Tensors& in) {
    const AnyTensor made = call_for_one("neg", {in[0]});
    const AnyTensor turned = call_for_one("permute", {made, {1, 0}});
    return Tensors{call_for_one("add", {call_for_one("relu", {turned}), in[0]})};
  };
  EXPECT_EQ(steps_of(expect_same(program, {counted({5, 5})})), "fused:1 fused:1");
}

TEST(Fusion, keeps_no_bool_that_several_kernels_compute) {
  const Program program = [](const Tensors& in) {
    const AnyTensor square = call_for_one("mul", {in[0], call_for_one("add", {in[0], in[0]})});
    const AnyTensor is_large = call_for_one("ge", {square, in[0]});
    return Tensors{call_for_one("where", {is_large, in[0], square}),
                   call_for_one("where", {is_large, in[1], in[0]})};
  };
  EXPECT_EQ(steps_of(expect_same(program, {counted({5}), counted({3, 5})})), "fused:1 fused:1");
}

AnyTensor chain_from(AnyTensor value, int operators) {
  for (int step = 0; step < operators; ++step) {
    value = call_for_one(step % 2 == 0 ? "neg" : "relu", {value});
  }
  return value;
}

TEST(Fusion, parts_long_conditions) {
  const Program program = [](const Tensors& in) {
    const AnyTensor is_large = call_for_one("ge", {chain_from(in[0], 70), in[1]});
    return Tensors{call_for_one("where", {is_large, in[0], in[1]})};
  };
  EXPECT_EQ(steps_of(expect_same(program, {counted({5}), counted({5}, 1)})), "fused:1 fused:1");
}

TEST(Fusion, parts_expressions_at_their_largest_branch) {
  const Program program = [](const Tensors& in) {
    return Tensors{call_for_one("add", {chain_from(in[0], 70), chain_from(in[1], 10)})};
  };
  EXPECT_EQ(steps_of(expect_same(program, {counted({5}), counted({5}, 1)})), "fused:1 fused:1");
}

TEST(Fusion, takes_many_inputs_and_outputs) {
  const Program program = [](const Tensors& in) {
    Tensors outputs;
    AnyTensor sum = in[0];
    for (std::size_t index = 1; index < in.size(); ++index) {
      sum = call_for_one("add", {sum, in[index]});
      outputs.push_back(sum);
    }
    outputs.push_back(in[0]);
    outputs.push_back(sum);
    return outputs;
  };
  std::vector<Tensor> inputs;
  for (int index = 0; index < 12; ++index) {
    inputs.push_back(counted({6, 5}, index));
  }
  EXPECT_EQ(kernels_of(expect_same(program, inputs)), 11) << "each reads what the one before wrote";
}

TEST(Fusion, computes_two_outputs_of_the_same_sizes_by_one_kernel) {
  const Program program = [](const Tensors& in) {
    return Tensors{call_for_one("neg", {in[0]}), call_for_one("relu", {in[0]}),
                   call_for_one("add", {in[0], in[0]})};
  };
  const VulkanGraph fused = expect_same(program, {counted({6, 5})});
  ASSERT_EQ(steps_of(fused), "fused:2 fused:1");
  EXPECT_EQ(std::get<FusedKernel>(fused.steps()[0]).parameters.size(), 3U + 4U + 1U)
      << "sizes, an address to read from, and one place for both to write to";
}

TEST(Fusion, chooses_by_comparisons_and_returns_them) {
  const Program program = [](const Tensors& in) {
    const AnyTensor larger = call_for_one("ge", {in[0], in[1]});
    const AnyTensor chosen = call_for_one("where", {larger, in[0], in[1]});
    const AnyTensor is_zero = call_for_one("eq.scalar", {in[0], 0});
    const AnyTensor equal = call_for_one("eq", {in[0], in[1]});
    return Tensors{call_for_one("exp", {call_for_one("mul.scalar", {chosen, 0})}), is_zero,
                   call_for_one("where", {is_zero, in[1], chosen}), equal,
                   call_for_one("where", {equal, in[0], call_for_one("neg", {in[0]})})};
  };
  EXPECT_EQ(steps_of(expect_same(program, {counted({40}), counted({40}, -1)})),
            "eq.scalar eq fused:2 where where fused:1")
      << "a bool that is returned is in memory";
}

TEST(Fusion, writes_small_parts_in_place) {
  const Program program = [](const Tensors& in) {
    call("copy_", {part(in[0], 0, 0, 1), part(in[0], 0, 5, 6)});
    call("mul_.scalar", {in[0], 3});
    call("fill_", {part(in[0], 1, 2, 3), 7});
    return Tensors{call_for_one("neg", {in[0]})};
  };
  EXPECT_EQ(steps_of(expect_same(program, {counted({12, 8})})),
            "fused:1 fused:1 slice_scatter fused:1 slice_scatter fused:1");
  expect_same(program, {counted({12, 8})}, {.paths = ViewPaths::strides});
}

TEST(Fusion, is_of_up_to_three_axes_whose_groups_every_device_has) {
  using Sizes = std::array<std::int64_t, fused_axes>;
  EXPECT_EQ(fused_sizes({}), (Sizes{1, 1, 1}));
  EXPECT_EQ(fused_sizes({7, 5}), (Sizes{1, 7, 5}));
  EXPECT_EQ(fused_sizes({65535, 65535, 0}), std::nullopt) << "no element";
  EXPECT_EQ(fused_sizes({65535, 1, 1}), (Sizes{65535, 1, 1}));
  EXPECT_EQ(fused_sizes({65536, 1, 1}), std::nullopt);
  EXPECT_EQ(fused_sizes({65536, 1}), std::nullopt);
  EXPECT_EQ(fused_sizes({65535 * 64}), (Sizes{1, 1, 65535 * 64}));
  EXPECT_EQ(fused_sizes({65535 * 64 + 1}), std::nullopt);
  EXPECT_EQ(fused_sizes({8191, 65536}), (Sizes{1, 8191, 65536}));
  EXPECT_EQ(fused_sizes({8192, 65536}), std::nullopt) << "addresses are of 32 bits";
  EXPECT_EQ(fused_sizes({2, 2, 2, 2}), std::nullopt);
}

TEST(Fusion, leaves_four_axes_to_their_operators) {
  const Program program = [](const Tensors& in) {
    return Tensors{call_for_one("neg", {call_for_one("relu", {in[0]})})};
  };
  EXPECT_EQ(steps_of(expect_same(program, {counted({2, 3, 2, 3})})), "relu neg");
}

TEST(Fusion, leaves_what_is_no_f32_to_its_operators) {
  const Program program = [](const Tensors& in) {
    const AnyTensor whole = call_for_one("to", {in[0], DType::i32});
    const AnyTensor sum = call_for_one("add", {whole, whole});
    return Tensors{sum, call_for_one("add", {in[0], sum}),
                   call_for_one("add.scalar", {in[0], Scalar(std::complex<float>(1, 2))}),
                   call_for_one("zeros", {{3}, DType::i32}),
                   call_for_one("slice_copy", {whole, 0, 2, 5, 1})};
  };
  EXPECT_EQ(steps_of(expect_same(program, {counted({10})})),
            "to add.scalar zeros add slice_copy add");
}

/// A dispatch has 65535 groups of 64 threads along a row, where a device has no more than it has to have.
TEST(Fusion, leaves_rows_alone_that_are_longer_than_a_dispatch) {
  const Program program = [](const Tensors& in) {
    return Tensors{call_for_one("relu", {call_for_one("add.scalar", {in[0], 1})})};
  };
  for (const std::int64_t length : {65535 * 64, 65535 * 64 + 1}) {
    Tensor row = Tensor::empty({length}, DType::f32);
    fill_(row, -2);
    expect_same(program, {row});
  }
}

}  // namespace
}  // namespace examples::vulkan::test
