// SPDX-License-Identifier: BSL-1.0
/// Random arguments for each of the pure operators that come along: what any backend has to compute
/// as the CPU does, a graph to record, and a meta rule to foretell.
#pragma once

#include <map>
#include <numeric>

#include "random_tensors.hpp"

namespace byre::test {

class RandomCalls : public RandomTensors {
 public:
  explicit RandomCalls(std::uint64_t seed) : RandomTensors(seed) {
    add_pointwise();
    add_reductions();
    add_copies();
    add_view_copies();
    add_scatters();
    add_factories();
    add_tagged();
  }

  /// The operators of tensors, by name.
  std::vector<std::string> names() const { return names_of(makers_); }
  /// Those that make a tensor of numbers too.
  std::vector<std::string> all_names() const {
    std::vector<std::string> all = names_of(factories_);
    for (std::string& name : names()) {
      all.push_back(std::move(name));
    }
    return all;
  }
  Arguments arguments_of(const std::string& name) {
    const auto factory = factories_.find(name);
    return factory == factories_.end() ? makers_.at(name)() : factory->second();
  }

 private:
  using Maker = std::function<Arguments()>;
  using Makers = std::map<std::string, Maker>;

  static std::vector<std::string> names_of(const Makers& makers) {
    std::vector<std::string> all;
    for (const auto& [name, make] : makers) {
      all.push_back(name);
    }
    return all;
  }

  void add_pointwise() {
    for (const std::string name : {"add", "sub", "mul", "div", "eq", "ge"}) {
      makers_[name] = [this, name]() -> Arguments {
        const Dims all = sizes(0, 3);
        Dims some = flag() ? all : broadcastable(all);
        Argument a = tensor(all, type_for(name));
        Argument b = tensor(some, type_for(name));
        return flag() ? Arguments{a, b} : Arguments{b, a};
      };
      makers_[name + ".scalar"] = [this, name]() -> Arguments {
        return {tensor(sizes(0, 3), type_for(name)),
                flag() ? Argument(number(1, 5)) : Argument(0.5)};
      };
    }
    for (const std::string name : {"neg", "relu", "exp"}) {
      makers_[name] = [this, name]() -> Arguments { return {tensor(sizes(0, 3), type_for(name))}; };
    }
    makers_["where"] = [this]() -> Arguments {
      const Dims all = sizes(0, 3);
      return {tensor(broadcastable(all), DType::boolean), tensor(all, any_type()),
              tensor(broadcastable(all), any_type())};
    };
  }

  void add_reductions() {
    makers_["sum"] = [this]() -> Arguments { return {tensor(sizes(0, 3), number_type())}; };
    makers_["sum.axes"] = [this]() -> Arguments {
      const Dims all = sizes(0, 3);
      Dims axes = some_axes_of(all.empty() ? Dims{1} : all);
      return {tensor(all, number_type()), std::move(axes), flag()};
    };
    makers_["matmul"] = [this] { return factors(); };
    makers_["cat"] = [this]() -> Arguments {
      Dims all = sizes(1, 3);
      const std::int64_t axis = axis_of(all);
      Tensors tensors;
      for (std::int64_t count = number(1, 3); count > 0; --count) {
        at(all, axis) = size();
        tensors.push_back(tensor(all, any_type()).tensor());
      }
      return {tensors, axis};
    };
  }

  Arguments factors() {
    const std::int64_t inner = size();
    const Dims stack = sizes(0, 2);
    Dims a = broadcastable(stack);
    Dims b = flag() ? stack : broadcastable(stack);
    if (number(0, 3) == 0) {
      a = {inner};
    } else {
      a.push_back(size());
      a.push_back(inner);
    }
    if (number(0, 3) == 0) {
      b = {inner};
    } else {
      b.push_back(inner);
      b.push_back(size());
    }
    return {tensor(a, number_type()), tensor(b, number_type())};
  }

  void add_copies() {
    for (const char* name : {"clone", "contiguous"}) {
      makers_[name] = [this]() -> Arguments { return {tensor(sizes(0, 3), any_type())}; };
    }
    makers_["to"] = [this]() -> Arguments { return {tensor(sizes(0, 3), any_type()), any_type()}; };
    for (const char* name : {"reshape", "view_copy"}) {
      makers_[name] = [this]() -> Arguments {
        const Dims all = sizes(0, 3);
        const std::int64_t numel = byre::detail::element_count(all, "random");
        const Dims other = numel != 0 && flag() ? Dims{1, -1}
                           : flag()             ? Dims{numel}
                                                : Dims{numel, 1, 1};
        return {tensor(all, any_type()), other};
      };
    }
  }

  void add_view_copies() {
    makers_["view_copy.dtype"] = [this]() -> Arguments {
      if (flag()) {
        return {tensor(sizes(0, 3), DType::f32), one_of({DType::i32, DType::f32})};
      }
      Dims all = sizes(1, 3);
      all.back() = 2 * std::max<std::int64_t>(1, all.back());
      return {tensor(all, DType::f32), one_of({DType::f64, DType::i16, DType::u8})};
    };
    makers_["permute_copy"] = [this]() -> Arguments {
      const Dims all = sizes(0, 3);
      Dims axes(all.size());
      std::iota(axes.begin(), axes.end(), flag() ? 0 : -std::ssize(all));
      shuffle(axes);
      return {tensor(all, any_type()), axes};
    };
    makers_["expand_copy"] = [this]() -> Arguments {
      Dims to = sizes(0, 4);
      const Dims from = broadcastable(to);
      for (std::size_t axis = to.size() - from.size(); axis < to.size(); ++axis) {
        to[axis] = to[axis] == from[axis - (to.size() - from.size())] && flag() ? -1 : to[axis];
      }
      return {tensor(from, any_type()), to};
    };
    makers_["select_copy"] = [this] { return of_view("select"); };
    makers_["slice_copy"] = [this] { return of_view("slice"); };
    makers_["diagonal_copy"] = [this] { return of_view("diagonal"); };
    makers_["as_strided_copy"] = [this] { return of_view("as_strided"); };
  }

  void add_scatters() {
    for (const std::string view : {"select", "slice", "diagonal", "as_strided"}) {
      makers_[view + "_scatter"] = [this, view] {
        Arguments arguments = of_view(view);
        const AnyTensor seen = functional::call_for_one(view, arguments);
        arguments.insert(arguments.begin() + 1, tensor(seen.sizes(), seen.dtype()));
        return arguments;
      };
    }
  }

  void add_factories() {
    for (const char* name : {"zeros", "ones"}) {
      factories_[name] = [this]() -> Arguments { return {sizes(0, 3), any_type()}; };
    }
    factories_["full"] = [this]() -> Arguments { return {sizes(0, 3), number(0, 1), any_type()}; };
    factories_["arange"] = [this]() -> Arguments { return {number(0, 9), number_type()}; };
  }

  /// What the schema says enough of: operators with a tag that have no maker of their own.
  void add_tagged() {
    for (const functional::Operator* const op : functional::operators()) {
      const bool has_tag =
          op->has(functional::Tag::pointwise) || op->has(functional::Tag::axis_shift);
      if (has_tag && !makers_.contains(op->name())) {
        makers_[op->name()] = [this, op] { return of_schema(op->schema()); };
      }
    }
  }

  Arguments of_schema(const functional::Schema& schema) {
    const Dims all = sizes(1, 3);
    Arguments arguments;
    for (const functional::Parameter& parameter : schema.parameters) {
      switch (parameter.type) {
        case functional::Type::tensor:
          arguments.push_back(tensor(all, any_type()));
          break;
        case functional::Type::axis:
          arguments.emplace_back(axis_of(all));
          break;
        case functional::Type::axes:
          arguments.emplace_back(some_axes_of(all));
          break;
        case functional::Type::scalar:
          arguments.emplace_back(number(1, 5));
          break;
        default:
          throw InvalidArgument(format_text("RandomCalls has no arguments for %s: give it a maker",
                                            functional::to_string(schema).c_str()));
      }
    }
    return arguments;
  }

  /// Of a view that sees no element twice.
  Arguments of_view(const std::string& name) {
    Dims all = sizes(name == "diagonal" ? 2 : 1, 3);
    const std::int64_t axis = axis_of(all);
    if (name == "slice") {
      const std::int64_t start = number(-4, 3);
      return {tensor(all, any_type()), axis, start,
              flag() ? Argument(functional::NoValue()) : Argument(number(-4, 4)), number(1, 2)};
    }
    if (name == "diagonal") {
      const std::int64_t second = (axis + std::ssize(all) + 1) % std::ssize(all);
      return {tensor(all, any_type()), number(-1, 1), axis, second};
    }
    if (name == "as_strided") {
      return {tensor({2, 6}, any_type()), {2, 3}, flag() ? Dims{1, 2} : Dims{6, 2}, number(0, 1)};
    }
    std::int64_t& length = at(all, axis);
    length = std::max<std::int64_t>(1, length);
    const std::int64_t last = length - 1;
    return {tensor(all, any_type()), axis, number(-1, last)};
  }

  Makers makers_;
  Makers factories_;
};

}  // namespace byre::test
