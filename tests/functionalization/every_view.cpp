// SPDX-License-Identifier: BSL-1.0
#include "every_view.hpp"

namespace byre::test {
namespace {

Sample view(std::string op, std::vector<StepArgument> constants = {}) {
  constants.insert(constants.begin(), the_base);
  return {std::move(op), std::move(constants)};
}

Sample write(std::string op, std::vector<StepArgument> rest = {}) {
  rest.insert(rest.begin(), the_view);
  return {std::move(op), std::move(rest)};
}

std::vector<Sample> views_of_all() {
  std::vector<Sample> all{view("alias"),
                          view("view", {Dims{-1}}),
                          view("view", {Dims{2, -1}}),
                          view("view", {Dims{1, 4, 1, -1}}),
                          view("view_as_real"),
                          view("view_as_complex"),
                          view("permute", {Dims{2, 0, 1}}),
                          view("permute", {Dims{1, 2, 0}}),
                          view("permute", {Dims{-1, 0}}),
                          view("transpose", {number(0), number(-1)}),
                          view("t"),
                          view("movedim", {Dims{0}, Dims{-1}}),
                          view("squeeze"),
                          view("squeeze.axis", {number(0)}),
                          view("unsqueeze", {number(0)}),
                          view("unsqueeze", {number(-1)}),
                          view("flatten"),
                          view("flatten", {number(0), number(1)}),
                          view("expand", {Dims{1, -1}}),
                          view("expand", {Dims{3, -1}}),
                          view("expand", {Dims{0, -1}}),
                          view("expand", {Dims{1, 1, 4, 4}}),
                          view("expand", {Dims{2, 2, 3, 4}})};
  for (const DType dtype : {DType::u8, DType::i16, DType::i32, DType::f32, DType::f64,
                            DType::complex64, DType::boolean}) {
    all.push_back(view("view.dtype", {dtype}));
  }
  return all;
}

std::vector<Sample> views_of_some() {
  return {view("as_strided", {Dims{}, Dims{}, number(1)}),
          view("as_strided", {Dims{2, 2}, Dims{1, 2}, number(0)}),
          view("as_strided", {Dims{2, 2}, Dims{4, 2}, NoValue()}),  // gaps
          view("as_strided", {Dims{3, 2}, Dims{1, 1}, number(1)}),  // overlapping
          view("as_strided", {Dims{2, 3}, Dims{0, 1}, number(0)}),
          view("as_strided", {Dims{2, 3}, Dims{3, 1}, number(0)}),
          view("as_strided", {Dims{0}, Dims{1}, number(1000)}),  // no elements, behind the end
          view("as_strided", {Dims{2, 0}, Dims{1, 3}, number(1000)}),
          view("select", {number(0), number(0)}),
          view("select", {number(-1), number(-2)}),
          view("slice", {number(0)}),
          view("slice", {number(-1), number(1), NoValue(), number(2)}),
          view("slice", {number(0), number(0), number(-1)}),
          view("slice", {number(0), number(1), number(1)}),
          view("narrow", {number(0), number(1), number(1)}),
          view("narrow", {number(-1), number(-2), number(2)}),
          view("diagonal"),
          view("diagonal", {number(1), number(1), number(0)}),
          view("diagonal", {number(-1), number(0), number(-1)}),
          view("unfold", {number(0), number(2), number(1)}),  // overlapping
          view("unfold", {number(-1), number(2), number(2)}),
          view("unfold", {number(-1), number(1), number(3)}),  // gaps
          view("unfold", {number(0), number(1), number(1)}),   // of no dimensions as well
          view("unfold", {number(-1), number(0), number(2)}),
          view("split", {number(1), number(0)}),
          view("split", {number(3), number(-1)}),
          view("split.sizes", {Dims{1, 1}, number(0)}),
          view("split.sizes", {Dims{1, 0, 3}, number(-1)}),
          view("chunk", {number(2), number(0)}),
          view("chunk", {number(3), number(-1)}),
          view("unbind", {number(0)}),
          view("unbind", {number(-1)}),
          view("proof_corners")};
}

void add_pointwise(std::vector<Sample>& all) {
  for (const std::string name : {"add", "sub", "mul", "div"}) {
    all.push_back(write(name + "_", {operand}));
    all.push_back(write(name + "_", {the_view}));
    all.push_back(write(name + "_", {other_view}));
    all.push_back(write(name + "_.scalar", {number(3)}));
    all.push_back(write(name + "_.scalar", {Scalar(0.5)}));
    all.push_back({name + ".out", {operand, operand, the_view}});
    all.push_back({name + ".out", {the_base, the_base, the_view}});
  }
  for (const std::string name : {"eq", "ge"}) {
    all.push_back({name + ".out", {operand, operand, the_view}});
  }
  for (const std::string name : {"neg", "relu", "exp"}) {
    all.push_back(write(name + "_"));
    all.push_back({name + ".out", {operand, the_view}});
    all.push_back({name + ".out", {the_view, the_base}});
  }
  all.push_back({"where.out", {condition, operand, the_view, the_view}});
  all.push_back({"sum.out", {the_base, the_view}});
  all.push_back({"matmul.out", {operand, operand, the_view}});
  all.push_back({"cat.out", {std::vector<Ref>{operand}, number(0), the_view}});
  all.push_back({"cat.out", {std::vector<Ref>{the_base}, number(-1), the_view}});
}

void add_overwriting(std::vector<Sample>& all) {
  all.push_back(write("fill_", {number(7)}));
  all.push_back(write("fill_", {Scalar(0.5)}));
  all.push_back(write("zero_"));
  all.push_back(write("copy_", {operand}));
  all.push_back(write("copy_", {condition}));
  all.push_back(write("copy_", {other_view}));
  all.push_back({"copy_", {the_base, the_view}});
  all.push_back(write("resize_", {Dims{}}));
  all.push_back(write("resize_", {Dims{2}}));
  all.push_back(write("resize_", {Dims{2, 2}}));
  all.push_back(write("resize_", {Dims{0}}));
  all.push_back(write("resize_", {Dims{99}}));
  all.push_back(write("set_", {the_base}));
  all.push_back(write("set_", {operand}));
  all.push_back({"set_", {the_base, the_view}});
  all.push_back(write("proof_double_"));
  all.push_back(write("proof_exchange_", {operand}));
  all.push_back(write("proof_exchange_", {other_view}));
}

void add_views_in_place(std::vector<Sample>& all) {
  all.push_back(write("permute_", {Dims{1, 0}}));
  all.push_back(write("permute_", {Dims{2, 0, 1}}));
  all.push_back(write("transpose_", {number(0), number(-1)}));
  all.push_back(write("t_"));
  all.push_back(write("movedim_", {Dims{0}, Dims{-1}}));
  all.push_back(write("squeeze_"));
  all.push_back(write("squeeze_.axis", {number(0)}));
  all.push_back(write("unsqueeze_", {number(-1)}));
  all.push_back(write("as_strided_", {Dims{2, 2}, Dims{2, 1}, number(0)}));
  all.push_back(write("as_strided_", {Dims{2}, Dims{1}, NoValue()}));
  all.push_back({"transpose_", {the_base, number(0), number(-1)}});
}

}  // namespace

const std::vector<Sample>& every_view() {
  static const std::vector<Sample> all = [] {
    std::vector<Sample> views = views_of_all();
    for (Sample& some : views_of_some()) {
      views.push_back(std::move(some));
    }
    return views;
  }();
  return all;
}

const std::vector<Sample>& every_write() {
  static const std::vector<Sample> all = [] {
    std::vector<Sample> writes;
    add_pointwise(writes);
    add_overwriting(writes);
    add_views_in_place(writes);
    return writes;
  }();
  return all;
}

}  // namespace byre::test
