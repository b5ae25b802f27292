// SPDX-License-Identifier: BSL-1.0
#include <span>

#include "model.hpp"
#include "support/random.hpp"

namespace byre::test {
namespace {

const Dims sizes_of_made[] = {{6}, {2, 3}, {4}, {2, 2}, {8}, {2, 4}, {1}, {2, 1, 3}, {0, 2}};

class Generator {
 public:
  Generator(std::uint64_t seed, Flavor flavor)
      : random_(seed), is_whole_(flavor == Flavor::whole_and_unique) {
    for (std::size_t number = 0; number < operation_rows.size(); ++number) {
      weighted_.insert(weighted_.end(), operation_rows[number].weights[is_whole_ ? 1 : 0],
                       static_cast<Operation>(number));
    }
  }

  Program program() {
    const std::size_t length = 6 + random_.below(std::size_t{is_whole_ ? 18U : 24U});
    add(made());
    while (program_.size() < length) {
      add(statement());
    }
    return program_;
  }

 private:
  void add(const Statement& statement) {
    if (model_.run(statement, static_cast<std::uint32_t>(program_.size() + 1))) {
      program_.push_back(statement);
    }
  }
  bool is_rare(unsigned one_in) { return random_.below(one_in) == 0; }
  /// Its own and those of ten elements behind it, if they are to be unique.
  std::int64_t value() {
    return is_whole_ ? (next_value_ += 10 + random_.below(5)) : random_.below(std::int64_t{3});
  }

  Statement made() {
    const std::span<const Dims> all(sizes_of_made);
    return {.operation = Operation::make,
            .result = next_name_++,
            .dims = random_.one_of(is_whole_ ? all.first(7) : all),
            .value = value()};
  }

  /// One that `fits`, if there is one, or else `otherwise`.
  template <class Fits>
  std::size_t tensor_that(const Fits& fits, std::size_t otherwise) {
    std::vector<std::size_t> fitting;
    for (const auto& [name, tensor] : model_.tensors()) {
      if (fits(name, tensor)) {
        fitting.push_back(name);
      }
    }
    return fitting.empty() ? otherwise : random_.one_of(fitting);
  }

  Dims regrouped(std::int64_t numel) {
    if (numel == 0) {
      return random_.flag() ? Dims{0} : Dims{2, 0};
    }
    Dims sizes;
    for (std::int64_t left = numel; left > 1 || sizes.empty();) {
      const std::int64_t size = 1 + random_.below(left);
      if (left % size == 0 && (size > 1 || is_rare(4))) {
        sizes.push_back(size);
        left /= size;
      }
    }
    return sizes;
  }

  /// Not all of them are possible: the model says so.
  Statement statement() {
    const auto& tensors = model_.tensors();
    if (tensors.empty()) {
      return made();
    }
    Statement next{.operation = random_.one_of(weighted_)};
    if (next.operation == Operation::make) {
      return made();
    }
    const bool is_kept = next.operation == Operation::write_kept;
    next.self = tensor_that(
        [&](std::size_t name, const auto&) { return !is_kept || model_.may_write_kept(name); },
        tensors.begin()->first);
    const Model::Tensor& self = tensors.at(next.self);
    next.other = tensor_that(
        [&](std::size_t name, const Model::Tensor& tensor) {
          return name != next.self && tensor.layout.sizes == self.layout.sizes;
        },
        next.self);
    if (next.operation <= Operation::clone) {
      next.result = next_name_++;
    }
    next.dims = dims_for(next.operation, self.layout);
    next.value = value();
    next.is_in_scope = !is_whole_ && is_rare(12);
    next.is_in_file = !is_whole_ && is_rare(12);
    if (next.reshapes()) {  // often as the run says
      const unsigned choice = random_.below(10U);
      if (choice < 2) {
        next.mode = shadow::ReshapeMode::error;
      } else if (choice < 4 && !is_whole_) {
        next.mode = choice == 2 ? shadow::ReshapeMode::alias : shadow::ReshapeMode::copy;
      }
    }
    if (is_rare(4)) {  // of an earlier statement, as in a loop, or where much is done in one line
      const std::size_t index = random_.below(program_.size());
      next.is_in_file = program_[index].is_in_file;
      next.line =
          program_[index].line != 0 ? program_[index].line : static_cast<std::uint32_t>(index + 1);
    }
    return next;
  }

  Dims dims_for(Operation operation, const Layout& layout) {
    const auto ndim = static_cast<std::int64_t>(layout.ndim());
    const std::int64_t axis = random_.below(ndim);
    const std::int64_t size = ndim == 0 ? 1 : layout.sizes[static_cast<std::size_t>(axis)];
    switch (operation) {
      case Operation::transpose:
        return {axis, random_.below(ndim)};
      case Operation::slice: {
        const std::int64_t end = 1 + random_.below(size);
        return {axis, is_rare(10) ? end : random_.below(size), end, random_.one_of({1, 2})};
      }
      case Operation::select:
        return {axis, random_.below(size)};
      case Operation::view:
      case Operation::reshape:
      case Operation::reshape_in_place:
        return regrouped(layout.numel());
      case Operation::over:
        return regrouped(1 + random_.below(std::int64_t{8}));
      case Operation::set_at:
      case Operation::read_at: {
        Dims index;
        for (const std::int64_t each : layout.sizes) {
          index.push_back(random_.below(each));
        }
        return index;
      }
      default:
        return {};
    }
  }

  Random random_;
  const bool is_whole_;
  std::vector<Operation> weighted_;  ///< each as often as its weight says
  Model model_;
  Program program_;
  std::size_t next_name_ = 0;
  std::int64_t next_value_ = 0;
};

}  // namespace

Program generate(std::uint64_t seed, Flavor flavor) {
  return Generator(seed, flavor).program();
}

}  // namespace byre::test
