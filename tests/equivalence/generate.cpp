// SPDX-License-Identifier: BSL-1.0
#include "generate.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <random>
#include <span>

#include "worlds.hpp"

namespace byre::test {
namespace {

struct Weight {
  Operation operation;
  int weight;
};

constexpr std::array of_anything{
    Weight{Operation::make, 2},       Weight{Operation::alias, 1},
    Weight{Operation::transpose, 2},  Weight{Operation::slice, 3},
    Weight{Operation::select, 2},     Weight{Operation::diagonal, 1},
    Weight{Operation::view, 2},       Weight{Operation::as_i32, 1},
    Weight{Operation::as_i64, 2},     Weight{Operation::over, 1},
    Weight{Operation::reshape, 12},   Weight{Operation::lazy_clone, 2},
    Weight{Operation::clone, 1},      Weight{Operation::cat, 1},
    Weight{Operation::where, 1},      Weight{Operation::equal, 1},
    Weight{Operation::mask, 2},       Weight{Operation::matmul, 2},
    Weight{Operation::moved, 1},      Weight{Operation::drop, 3},
    Weight{Operation::shrink, 1},     Weight{Operation::realize, 2},
    Weight{Operation::extend, 1},     Weight{Operation::reshape_in_place, 2},
    Weight{Operation::resize, 1},     Weight{Operation::reserve, 2},
    Weight{Operation::share_data, 1}, Weight{Operation::fill, 1},
    Weight{Operation::set_at, 3},     Weight{Operation::write_through, 1},
    Weight{Operation::write_kept, 3}, Weight{Operation::add_number, 1},
    Weight{Operation::negate, 1},     Weight{Operation::add, 2},
    Weight{Operation::copy, 4},       Weight{Operation::read_at, 4},
    Weight{Operation::read, 6}};

constexpr std::array of_whole{
    Weight{Operation::make, 1},      Weight{Operation::alias, 1},
    Weight{Operation::transpose, 2}, Weight{Operation::view, 2},
    Weight{Operation::reshape, 6},   Weight{Operation::reshape_in_place, 1},
    Weight{Operation::drop, 4},      Weight{Operation::fill, 4},
    Weight{Operation::read, 6}};

class Generator {
 public:
  Generator(std::uint64_t seed, Flavor flavor)
      : random_(seed), is_whole_(flavor != Flavor::anything) {}

  Program program() {
    const auto length = static_cast<std::size_t>(6 + below(is_whole_ ? 18 : 24));
    add(made());
    while (program_.size() < length) {
      const Statement next = statement();
      if (!is_whole_ || !next.reshapes() || aliases(next)) {
        add(next);
      }
    }
    return program_;
  }

 private:
  /// 0 if there is nothing below.
  std::int64_t below(std::int64_t bound) {
    return bound == 0 ? 0
                      : static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(bound));
  }
  /// Its own and those of ten elements behind it, if they are to be unique.
  std::int64_t value() { return is_whole_ ? (next_value_ += 10 + below(5)) : below(3); }

  void add(const Statement& statement) {
    if (worlds_.run(statement, static_cast<std::uint32_t>(program_.size() + 1))) {
      program_.push_back(statement);
    }
  }

  Statement made() {
    static const std::array<Dims, 9> all_sizes{Dims{6}, {2, 3}, {4},       {2, 2}, {8},
                                               {2, 4},  {1},    {2, 1, 3}, {0, 2}};
    return {
        .operation = Operation::make,
        .result = next_name_++,
        .dims =
            all_sizes[static_cast<std::size_t>(below(std::ssize(all_sizes) - (is_whole_ ? 2 : 0)))],
        .value = value()};
  }

  Operation operation() {
    const std::span<const Weight> weights =
        is_whole_ ? std::span<const Weight>(of_whole) : std::span<const Weight>(of_anything);
    std::int64_t all = 0;
    for (const Weight& each : weights) {
      all += each.weight;
    }
    std::int64_t left = below(all);
    auto chosen = weights.begin();
    while (left >= chosen->weight) {
      left -= (chosen++)->weight;
    }
    return chosen->operation;
  }

  std::size_t any_tensor() {
    const auto& tensors = worlds_.tensors();
    return std::next(tensors.begin(), below(std::ssize(tensors)))->first;
  }

  /// One whose memory is its own, if there is one, for what is refused otherwise.
  std::size_t tensor_for(Operation operation) {
    std::vector<std::size_t> fitting;
    for (const auto& [name, tensor] : worlds_.tensors()) {
      const bool has_memory = tensor.family != nullptr;
      if (operation == Operation::realize      ? !has_memory
          : operation == Operation::write_kept ? worlds_.may_write_kept(name)
          : operation == Operation::mask       ? tensor.type.dtype == DType::boolean
                                               : has_memory && !worlds_.is_shared(tensor)) {
        fitting.push_back(name);
        if (operation == Operation::extend && !tensor.family->memory->has_storage) {
          return name;  // rare, and else without a use
        }
      }
    }
    const bool is_choosy = operation == Operation::realize || operation == Operation::shrink ||
                           operation == Operation::reserve || operation == Operation::extend ||
                           operation == Operation::write_kept || operation == Operation::mask;
    return is_choosy && !fitting.empty()
               ? fitting[static_cast<std::size_t>(below(std::ssize(fitting)))]
               : any_tensor();
  }

  /// One that may stand beside it in an operation, if there is one.
  std::size_t tensor_beside(std::size_t self, bool has_same_dtype = true) {
    std::vector<std::size_t> fitting;
    for (const auto& [name, tensor] : worlds_.tensors()) {
      const Worlds::Tensor& beside = worlds_.tensors().at(self);
      if (tensor.layout.sizes == beside.layout.sizes &&
          (tensor.type.dtype == beside.type.dtype) == has_same_dtype && name != self) {
        fitting.push_back(name);
      }
    }
    return fitting.empty() ? self : fitting[static_cast<std::size_t>(below(std::ssize(fitting)))];
  }

  std::size_t tensor_to_multiply_by(std::size_t self) {
    std::vector<std::size_t> fitting;
    const Worlds::Tensor& left = worlds_.tensors().at(self);
    for (const auto& [name, tensor] : worlds_.tensors()) {
      if (left.layout.ndim() == 2 && tensor.layout.ndim() == 2 &&
          tensor.type.dtype == left.type.dtype && left.layout.sizes[1] == tensor.layout.sizes[0]) {
        fitting.push_back(name);
      }
    }
    return fitting.empty() ? self : fitting[static_cast<std::size_t>(below(std::ssize(fitting)))];
  }

  Dims index_into(const Layout& layout) {
    Dims index;
    for (const std::int64_t size : layout.sizes) {
      index.push_back(below(size));
    }
    return index;
  }

  Dims regrouped(std::int64_t numel) {
    if (numel == 0) {
      return below(2) == 0 ? Dims{0} : Dims{2, 0};
    }
    Dims sizes;
    for (std::int64_t left = numel; left > 1 || sizes.empty();) {
      const std::int64_t size = 1 + below(left);
      if (left % size == 0 && (size > 1 || below(4) == 0)) {
        sizes.push_back(size);
        left /= size;
      }
    }
    return sizes;
  }

  /// Not all of them are possible: Worlds says so.
  Statement statement() {
    if (worlds_.tensors().empty()) {
      return made();
    }
    Statement next{.operation = operation()};
    next.self = tensor_for(next.operation);
    const Layout& layout = worlds_.tensors().at(next.self).layout;
    const auto ndim = static_cast<std::int64_t>(layout.ndim());
    const std::int64_t axis = ndim == 0 ? 0 : below(ndim);
    const std::int64_t size = ndim == 0 ? 1 : layout.sizes[static_cast<std::size_t>(axis)];
    if (next.operation <= Operation::clone) {
      next.result = next_name_++;
    }
    switch (next.operation) {
      case Operation::make:
        return made();
      case Operation::transpose:
        next.dims = {axis, ndim == 0 ? 0 : below(ndim)};
        break;
      case Operation::slice:
        next.dims = {axis, below(size), 1 + below(size), 1 + below(2)};
        if (is_rare(10)) {
          next.dims[2] = next.dims[1];  // of nothing
        }
        break;
      case Operation::select:
        next.dims = {axis, below(size)};
        break;
      case Operation::view:
      case Operation::reshape:
      case Operation::reshape_in_place:
        next.dims = regrouped(layout.numel());
        break;
      case Operation::set_at:
      case Operation::read_at:
        next.dims = index_into(layout);
        break;
      case Operation::resize:
      case Operation::shrink:
      case Operation::over:
        next.dims = regrouped(is_rare(4) ? 0 : 1 + below(8));
        break;
      case Operation::reserve:
        next.dims = regrouped(1 + below(16));
        break;
      case Operation::extend:
        next.dims = {below(4), 40 * below(2)};
        break;
      case Operation::matmul:
        next.other = tensor_to_multiply_by(next.self);
        break;
      case Operation::mask:
        next.other = tensor_beside(next.self, false);
        break;
      case Operation::cat:
      case Operation::where:
      case Operation::equal:
      case Operation::add:
      case Operation::copy:
      case Operation::share_data:
        next.other = tensor_beside(next.self);
        break;
      default:
        break;
    }
    next.value = next.operation == Operation::read ? below(ways_to_read) : value();
    next.is_silent = !is_whole_ && is_rare(12);
    if (next.reshapes()) {
      choose_mode(next);
    }
    next.is_listed = !is_whole_ && is_rare(12);
    if (is_rare(4) && !program_.empty()) {
      choose_earlier_line(next);
    }
    return next;
  }

  /// Often as the run says.
  void choose_mode(Statement& next) {
    using shadow::ReshapeMode;
    const std::int64_t choice = below(10);
    if (choice < 2) {
      next.mode = ReshapeMode::error;
    } else if (choice < 4 && !is_whole_) {
      next.mode = choice == 2 ? ReshapeMode::alias : ReshapeMode::copy;
    }
  }

  /// Of an earlier statement, as in a loop, or where much is done in one line.
  void choose_earlier_line(Statement& next) {
    const auto index = static_cast<std::size_t>(below(std::ssize(program_)));
    const Statement& earlier = program_[index];
    next.is_listed = earlier.is_listed;
    next.line = earlier.line != 0 ? earlier.line : static_cast<std::uint32_t>(index + 1);
  }

  bool is_rare(std::int64_t one_in) { return below(one_in) == 0; }
  bool aliases(const Statement& reshape) const {
    return viewed_as(worlds_.tensors().at(reshape.self).layout, reshape.dims, "").has_value();
  }

  std::mt19937_64 random_;
  const bool is_whole_;
  Worlds worlds_;
  Program program_;
  std::size_t next_name_ = 0;
  std::int64_t next_value_ = 0;
};

}  // namespace

Program generate(std::uint64_t seed, Flavor flavor) {
  return Generator(seed, flavor).program();
}

}  // namespace byre::test
