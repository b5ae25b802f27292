// SPDX-License-Identifier: BSL-1.0
#include "random_program.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

namespace byre::test {
namespace {

/// Each element of `layout`, by its distance from the first, in row-major order.
std::vector<std::int64_t> distances(const Layout& layout) {
  std::vector<std::int64_t> all{0};
  for (std::size_t axis = 0; axis < layout.ndim(); ++axis) {
    std::vector<std::int64_t> next;
    for (const std::int64_t distance : all) {
      for (std::int64_t index = 0; index < layout.sizes[axis]; ++index) {
        next.push_back(distance + index * layout.strides[axis]);
      }
    }
    all = std::move(next);
  }
  return all;
}

std::vector<std::int32_t> values_of(const Tensor& tensor) {
  const std::int32_t* const first = tensor.data<std::int32_t>();
  std::vector<std::int32_t> values;
  for (const std::int64_t distance : distances(tensor.layout())) {
    values.push_back(first[distance]);
  }
  return values;
}

/// The model of a clone: an array as long as the clone's storage.
FlatTensor held_by(const Tensor& clone, const FlatTensor& source) {
  FlatTensor held{
      std::make_shared<std::vector<std::int32_t>>(clone.storage().nbytes() / sizeof(std::int32_t)),
      clone.sizes(),
      {}};
  if (held.storage->size() == source.storage->size()) {
    *held.storage = *source.storage;
  } else {
    std::copy_n(reinterpret_cast<const std::int32_t*>(clone.storage().data()), held.storage->size(),
                held.storage->begin());
  }
  const std::vector<std::int32_t> values = source.values();
  if (!values.empty()) {
    for (const std::int64_t distance : distances(clone.layout())) {
      held.places.push_back(static_cast<std::size_t>(clone.storage_offset() + distance));
      held[held.places.size() - 1] = values[held.places.size() - 1];
    }
  }
  return held;
}

}  // namespace

void RandomProgram::adopt(const Pair& published) {
  const Tensor clone = published.tensor.lazy_clone();
  live_.push_back({clone, held_by(clone, published.model)});
}

void RandomProgram::run(int steps) {
  constexpr int steps_between_checks = 100;
  try {
    for (; steps > 0 && !::testing::Test::HasFailure(); --steps) {
      step();
      if (steps % steps_between_checks == 0) {
        check_all();
      }
    }
    check_all();
  } catch (const Error& error) {
    ADD_FAILURE() << "an operation that should work was refused: " << error.what();
  }
}

void RandomProgram::step() {
  constexpr std::size_t most_tensors = 14;
  if (live_.empty() || below(12) == 0) {
    return keep(make_tensor(), "make");
  }
  if (live_.size() > most_tensors) {
    std::swap(any(), live_.back());
    live_.pop_back();
  }
  const Pair chosen = any();  // a handle: what is done to it shows in the original
  Pair& original = any();
  switch (below(10)) {
    case 0:
      return copy(chosen);
    case 1:
      return reshape(chosen);
    case 2:
      return view_under_other_sizes(chosen);
    case 3:
    case 4:
      write_one(original);
      break;
    case 5:
      fill(original);
      break;
    case 6:
      below(2) == 0 ? resize(original) : extend(original);
      break;
    case 7:
      below(2) == 0 ? free_and_realize(original) : share_data(original, chosen);
      break;
    default:
      if (auto view = random_view(chosen)) {
        keep(std::move(*view), "view");
      }
  }
  compare(any(), "an operation on another, or this");
}

void RandomProgram::check_all() const {
  for (const Pair& pair : live_) {
    compare(pair, "all of it");
  }
}

RandomProgram::Pair RandomProgram::make_tensor() {
  Dims sizes(static_cast<std::size_t>(below(10) == 0 ? 6 : below(4)), 0);
  for (std::int64_t& size : sizes) {
    size = below(25) == 0 ? 0 : 1 + below(sizes.size() > 4 ? 2 : 5);
  }
  Tensor tensor = Tensor::empty(sizes, DType::i32);
  Pair pair{tensor, FlatTensor::contiguous(sizes, std::vector<std::int32_t>(
                                                      static_cast<std::size_t>(tensor.numel())))};
  fill(pair);
  return pair;
}

void RandomProgram::keep(Pair pair, const char* operation) {
  compare(pair, operation);
  live_.push_back(std::move(pair));
}

void RandomProgram::compare(const Pair& pair, const char* operation) const {
  ASSERT_EQ(to_string(pair.tensor.sizes()), to_string(pair.model.sizes)) << operation;
  ASSERT_EQ(values_of(pair.tensor), pair.model.values()) << operation;
}

void RandomProgram::fill(Pair& pair) {
  if (pair.tensor.numel() == 0) {
    return;
  }
  std::int32_t* const first = pair.tensor.mutable_data<std::int32_t>();
  std::size_t element = 0;
  for (const std::int64_t distance : distances(pair.tensor.layout())) {
    first[distance] = pair.model[element++] = next_value_++;
  }
  ++writes_;
}

/// What a resize within the storage may show later, which is indeterminate until then.
void RandomProgram::fill_reserve(Pair& pair) {
  Storage storage = pair.tensor.storage();
  const std::size_t used = pair.model.places.back() + 1;
  pair.model.storage->resize(storage.nbytes() / sizeof(std::int32_t));
  auto* const elements = static_cast<std::int32_t*>(static_cast<void*>(storage.mutable_data()));
  for (std::size_t place = used; place < pair.model.storage->size(); ++place) {
    elements[place] = (*pair.model.storage)[place] = next_value_++;
  }
}

void RandomProgram::write_one(Pair& to) {
  if (to.tensor.numel() == 0) {
    return;
  }
  const auto element = static_cast<std::size_t>(below(to.tensor.numel()));
  to.tensor.mutable_data<std::int32_t>()[distances(to.tensor.layout())[element]] = next_value_;
  to.model[element] = next_value_++;
  ++writes_;
}

/// The same number of elements under other sizes.
Dims RandomProgram::regrouped(const FlatTensor& model) {
  auto left = static_cast<std::int64_t>(model.places.size());
  Dims sizes;
  for (; left > 1 && sizes.size() < 5;) {
    const std::int64_t size = 1 + below(std::min<std::int64_t>(left, 12));
    if (left % size == 0) {
      sizes.push_back(size);
      left /= size;
    }
  }
  sizes.insert(sizes.begin() + below(std::ssize(sizes) + 1), left);
  return sizes;
}

void RandomProgram::view_under_other_sizes(const Pair& of) {
  const Dims sizes = regrouped(of.model);
  if (of.model.is_view_under(sizes)) {
    return keep({of.tensor.view(sizes), of.model.with_sizes(sizes)}, "view");
  }
  EXPECT_THROW(of.tensor.view(sizes), ShapeError);
  ++refusals_;
}

void RandomProgram::reshape(const Pair& of) {
  const Dims sizes = regrouped(of.model);
  Tensor reshaped = of.tensor.reshape(sizes);
  EXPECT_FALSE(reshaped.aliases(of.tensor));
  // Elements that overlap are shared where what lies between them is half of the storage.
  const bool is_shared = reshaped.storage().shares_data_with(of.tensor.storage());
  const bool is_small = 2 * of.model.distinct_places() < of.model.storage->size();
  const bool is_lazy = of.model.is_view_under(sizes) && (!is_small || is_shared);
  EXPECT_EQ(is_shared, is_lazy) << to_string(of.tensor.sizes()) << " by "
                                << to_string(of.tensor.strides()) << " as " << to_string(sizes);
  ++(is_lazy ? lazy_reshapes_ : eager_reshapes_);
  keep({reshaped, held_by(reshaped, of.model)}, "reshape");
}

void RandomProgram::copy(const Pair& of) {
  switch (below(3)) {
    case 0: {
      const Tensor clone = of.tensor.lazy_clone();
      return keep({clone, held_by(clone, of.model)}, "lazy_clone");
    }
    case 1:
      return keep({of.tensor.clone(), FlatTensor::contiguous(of.model.sizes, of.model.values())},
                  "clone");
    default:
      if (!of.tensor.is_contiguous()) {
        keep({of.tensor.contiguous(), FlatTensor::contiguous(of.model.sizes, of.model.values())},
             "contiguous");
      }
  }
}

void RandomProgram::resize(Pair& which) {
  if (which.model.places.empty()) {
    return;  // the model does not know where it lies
  }
  if (below(8) == 0) {
    which.tensor.resize(Dims(which.model.sizes));
    return compare(which, "resize to the same");
  }
  Dims sizes{1 + below(4), 1 + below(6)};
  if (sizes == which.model.sizes) {
    ++sizes[0];
  }
  const auto numel = static_cast<std::size_t>(sizes[0] * sizes[1]);
  const std::size_t from = which.model.places[0];
  const auto on_shrink = below(2) == 0 ? OnShrink::keep_memory : OnShrink::free_memory;
  const bool frees = on_shrink == OnShrink::free_memory && numel < which.model.places.size();
  if (!which.model.is_dense()) {
    EXPECT_THROW(which.tensor.resize(sizes, on_shrink), ShapeError);
    ++refusals_;
  } else if (from + numel <= which.model.storage->size() && !frees) {
    which.tensor.resize(sizes, on_shrink);
    which.model.sizes = sizes;
    which.model.places.resize(numel);
    std::iota(which.model.places.begin(), which.model.places.end(), from);
  } else if (is_shared(which)) {
    EXPECT_THROW(which.tensor.resize(sizes, on_shrink), StateError);
    ++refusals_;
  } else {
    which.tensor.resize(sizes, on_shrink);
    EXPECT_FALSE(which.tensor.is_storage_initialized());
    which.model = FlatTensor::contiguous(sizes, std::vector<std::int32_t>(numel));
    fill(which);
  }
  compare(which, "resize");
}

void RandomProgram::extend(Pair& which) {
  const std::int64_t count = below(3);
  if (is_shared(which)) {
    EXPECT_THROW(which.tensor.extend(count), StateError);
    ++refusals_;
  } else if (which.tensor.ndim() == 0 || !which.tensor.is_contiguous()) {
    EXPECT_THROW(which.tensor.extend(count), ShapeError);
    ++refusals_;
  } else if (!which.model.places.empty()) {
    const std::vector<std::int32_t> kept = which.model.values();
    which.tensor.extend(count, static_cast<unsigned>(below(80)));
    const std::vector<std::int32_t> now = values_of(which.tensor);
    ASSERT_TRUE(std::equal(kept.begin(), kept.end(), now.begin())) << "extend";
    which.model.sizes[0] += count;
    const std::size_t from = which.model.places[0];
    which.model.places.resize(now.size());
    std::iota(which.model.places.begin(), which.model.places.end(), from);
    fill_reserve(which);
    fill(which);
  }
}

void RandomProgram::free_and_realize(Pair& which) {
  if (which.model.places.empty()) {
    return;
  }
  if (is_shared(which)) {
    EXPECT_THROW(which.tensor.free_memory(), StateError);
    ++refusals_;
    return;
  }
  which.tensor.free_memory();
  which.model = FlatTensor::contiguous(
      which.model.sizes, std::vector<std::int32_t>(static_cast<std::size_t>(which.tensor.numel())));
  fill(which);
  compare(which, "free_memory");
}

void RandomProgram::share_data(Pair& target, const Pair& source) {
  if (target.model.places.size() != source.model.places.size()) {
    EXPECT_THROW(target.tensor.share_data(source.tensor), ShapeError);
    ++refusals_;
  } else if (source.model.is_view_under(target.model.sizes) && source.tensor.storage()) {
    target.tensor.share_data(source.tensor);
    target.model = source.model.with_sizes(target.model.sizes);
    compare(target, "share_data");
  }
}

}  // namespace byre::test
