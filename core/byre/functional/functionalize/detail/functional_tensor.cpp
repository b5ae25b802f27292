// SPDX-License-Identifier: BSL-1.0
#include <byre/functional/dispatch/call.hpp>
#include <byre/functional/dispatch/cpu_tensor.hpp>
#include <byre/functional/dispatch/guards.hpp>
#include <byre/functional/functionalize/detail/functional_tensor.hpp>
#include <byre/sync/detail/mutex.hpp>
#include <byre/sync/detail/no_destructor.hpp>

#include <algorithm>
#include <new>
#include <utility>

namespace byre::inline BYRE_ABI::functional {
namespace {

/// Guards the creation of every tensor's first alias. A tensor takes this lock only for its first
/// alias, so one lock suffices for all tensors.
struct FirstAliases {
  sync::ProcessMutex mutex;
};

}  // namespace

FunctionalTensor::FunctionalTensor(AnyTensor value)
    : TensorImpl(key),
      backend_(value.keys()),
      level_(std::max(value.batch_level(), thread_keys().batch_level)),
      path_(ViewGeometry::of_all(value.sizes(), value.dtype())),
      cached_{.initial = std::move(value)} {}

FunctionalTensor::FunctionalTensor(const AliasHandle& alias, ViewPath path)
    : TensorImpl(key),
      backend_(alias->backend()),
      level_(alias->batch_level()),
      path_(std::move(path)) {
  attach(alias);
}

FunctionalTensor::~FunctionalTensor() {
  detach();
}

void FunctionalTensor::attach(AliasHandle alias) noexcept {
  alias->add_tensor(path_, cached_);
  alias_.set(alias.detach());
}

void FunctionalTensor::detach() noexcept {
  if (const AliasHandle alias(alias_.get(), false); alias != nullptr) {
    alias->drop_tensor(path_, cached_);
    alias_.set(nullptr);
  }
  cached_ = {};
}

FunctionalTensor::AliasHandle FunctionalTensor::alias() {
  if (alias_.get() == nullptr) {
    auto made = make_counted<Alias>(cached_.initial, functionalize_options(), level_);
    const sync::ProcessLock lock(sync::no_destructor<FirstAliases>().mutex);
    if (alias_.get() == nullptr) {
      // The path to the base and, until a write, the value remain valid: threads that found no
      // alias may be reading them.
      made->drop_initial_value_at_write(cached_);
      attach(std::move(made));
    }
  }
  return alias_.get();
}

void FunctionalTensor::set(const AliasHandle& alias, ViewPath path) noexcept {
  detach();
  level_ = alias->batch_level();
  path_ = std::move(path);
  attach(alias);
}

void FunctionalTensor::set(AnyTensor value, ViewPath path) noexcept {
  detach();
  has_grown_ = true;
  path_ = std::move(path);
  cached_.initial = std::move(value);
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

}  // namespace byre::inline BYRE_ABI::functional
