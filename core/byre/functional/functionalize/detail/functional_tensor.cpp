// SPDX-License-Identifier: BSL-1.0
#include <byre/functional/dispatch/call.hpp>
#include <byre/functional/dispatch/cpu_tensor.hpp>
#include <byre/functional/dispatch/detail/batch_level.hpp>
#include <byre/functional/functionalize/detail/functional_tensor.hpp>

#include <algorithm>
#include <new>
#include <utility>

namespace byre::inline v0::functional {
FunctionalTensor::FunctionalTensor(AnyTensor value)
    : TensorImpl(key),
      backend_(value.keys()),
      level_(std::max(value.batch_level(), detail::batch_level_of_thread())),
      path_(ViewGeometry::of_all(value.sizes(), value.dtype())),
      cached_{std::move(value)} {}

FunctionalTensor::FunctionalTensor(const AliasHandle& alias, ViewPath path)
    : TensorImpl(key),
      backend_(alias->backend()),
      level_(alias->batch_level()),
      path_(std::move(path)),
      alias_(alias) {
  alias_->add_tensor(path_, cached_);
}

FunctionalTensor::~FunctionalTensor() {
  if (alias_ != nullptr) {
    alias_->drop_tensor(path_, cached_);
  }
}

void FunctionalTensor::attach(AliasHandle alias, ViewPath path, AnyTensor value) noexcept {
  if (alias_ != nullptr) {
    alias_->drop_tensor(path_, cached_);
  }
  alias_ = std::move(alias);
  path_ = std::move(path);
  cached_ = {std::move(value)};
  if (alias_ != nullptr) {
    alias_->add_tensor(path_, cached_);
  }
}

AnyTensor FunctionalTensor::sync() {
  const sync::Lock lock(mutex_);
  return alias_ == nullptr ? cached_.value : alias_->sync(path_, cached_);
}

std::uint64_t FunctionalTensor::generation() const noexcept {
  const sync::Lock lock(mutex_);
  return alias_ == nullptr ? 0 : alias_->generation_of(cached_);
}

FunctionalTensor::AliasHandle FunctionalTensor::alias() {
  const sync::Lock lock(mutex_);
  if (alias_ == nullptr) {
    // Its path, to the base, stays as it is: others may be asking for it.
    alias_ = make_counted<Alias>(cached_.value, functionalize_options(), level_);
    alias_->add_tensor(path_, cached_);
    cached_.value = {};  // the base's: the alias has it
  }
  return alias_;
}

FunctionalTensor::AliasHandle FunctionalTensor::alias_if_any() const noexcept {
  const sync::Lock lock(mutex_);
  return alias_;
}

void FunctionalTensor::expect_writable(const char* operation) const {
  const sync::Lock lock(mutex_);
  if (alias_ != nullptr) {
    alias_->expect_writable(path_, operation);
  }
}

FunctionalTensor::PreparedWrite FunctionalTensor::prepare_write(const char* operation,
                                                                std::size_t count) {
  const sync::Lock lock(mutex_);
  if (alias_ == nullptr) {
    return {*this, std::nullopt};
  }
  alias_->prepare_write(path_, operation, count);
  return {*this, path_};
}

void FunctionalTensor::PreparedWrite::commit(AnyTensor value) noexcept {
  const sync::Lock lock(target_->mutex_);
  BYRE_ASSERT((target_->alias_ != nullptr) == path_.has_value(),
              "a tensor was given an alias between a write and its preparation");
  if (path_) {
    target_->alias_->write(std::move(*path_), std::move(value), target_->cached_);
  } else {
    target_->cached_.value = std::move(value);
  }
}

void FunctionalTensor::move_to(ViewPath path) noexcept {
  const sync::Lock lock(mutex_);
  attach(alias_, std::move(path));
}

void FunctionalTensor::set(const AliasHandle& alias, ViewPath path) noexcept {
  const sync::Lock lock(mutex_);
  level_ = alias->batch_level();
  attach(alias, std::move(path));
}

void FunctionalTensor::set(AnyTensor value, ViewPath path) noexcept {
  const sync::Lock lock(mutex_);
  has_grown_ = true;
  attach(nullptr, std::move(path), std::move(value));
}

AnyTensor to_functional(AnyTensor value) {
  if (!value) [[unlikely]] {
    detail::expect_tensors({value}, "to_functional", "its arguments");
  }
  return make_counted<FunctionalTensor>(std::move(value));
}

AnyTensor from_functional(const AnyTensor& tensor) try {
  auto* const functional = tensor.as<FunctionalTensor>();
  return functional == nullptr ? tensor : functional->sync();
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("from_functional");
}

bool share_memory(const AnyTensor& a, const AnyTensor& b) {
  if (a == b) {
    return bool(a);
  }
  const CpuTensor* const on_cpu = a.as<CpuTensor>();
  const CpuTensor* const other = b.as<CpuTensor>();
  if (on_cpu != nullptr && other != nullptr) {
    return on_cpu->value.aliases(other->value);
  }
  const FunctionalTensor* const functional = a.as<FunctionalTensor>();
  const auto alias = functional == nullptr ? nullptr : functional->alias_if_any();
  return alias != nullptr && b.as<FunctionalTensor>() != nullptr &&
         b.as<FunctionalTensor>()->alias_if_any() == alias;
}

}  // namespace byre::inline v0::functional
